#!/usr/bin/env bash
# Installs what is needed, builds TuneMix and runs all its tests. With --sanitizers also a part of them under the address and
# the thread sanitizer, from builds of their own. Set TUNEMIX_SHARED_DATA to run the tests on the LETOR sets.
set -euo pipefail
cd "$(dirname "$0")/.."
sanitizers=()
if [ "${1:-}" = "--sanitizers" ]; then
  sanitizers=(address thread)
elif [ $# -gt 0 ]; then
  echo "scripts/test.sh: '$1' is not an option; expected --sanitizers or nothing" >&2
  exit 2
fi
scripts/install-dependencies.sh --tests

scripts/build.sh build -DTUNEMIX_UNITY=ON -DTUNEMIX_TESTS=ON -DTUNEMIX_PYTHON=ON -DTUNEMIX_BENCHMARKS=OFF
ctest --test-dir build --output-on-failure --parallel $(($(nproc) + 1)) # some only wait

# The sanitizers look at core (threads, files), data (untrusted input, with the fuzz corpus) and export (every learner,
# calibration and mixture once, in a small size); the property tests that only repeat arithmetic stay out.
# By clang, whose OpenMP tells the thread sanitizer what a loop orders; some races are planted.
for sanitizer in "${sanitizers[@]}"; do
  options=(-DTUNEMIX_UNITY=ON -DTUNEMIX_SANITIZE=$sanitizer -DTUNEMIX_CHARTS=OFF -DCMAKE_CXX_COMPILER=clang++)
  targets=(core_tests data_tests export_tests letor_fuzz)
  [ $sanitizer = address ] || targets+=(race_plant)
  scripts/build.sh "build-$sanitizer" "${options[@]}" --target "${targets[@]}"
  ctest --test-dir "build-$sanitizer" --output-on-failure --parallel "$(nproc)" \
    --label-regex '^(core|data|export)$' --exclude-regex '^(Binning.(Monotone|Rare)|Random|Synthetic|Decimal|ModelExport.(OneColumn|Classifiers|Solr))'
done
