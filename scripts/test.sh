#!/usr/bin/env bash
# Installs what is needed, builds TuneMix and runs all its tests, then a subset of them under sanitizers.
# Set TUNEMIX_SHARED_DATA to run the tests on the LETOR sets.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-dependencies.sh --tests

scripts/build.sh build -DTUNEMIX_TESTS=ON -DTUNEMIX_BENCHMARKS=OFF
ctest --test-dir build --output-on-failure --parallel "$(nproc)"

# The sanitizers look at the modules that hold threads, raw memory and untrusted input; long numeric tests stay out.
for sanitizer in address thread; do
  scripts/build.sh "build-$sanitizer" -DTUNEMIX_SANITIZE=$sanitizer -DTUNEMIX_CHARTS=OFF \
    --target core_tests data_tests boost_tests
  for module in core data boost; do
    echo "$sanitizer: $module"
    "build-$sanitizer/tests/${module}_tests" --gtest_brief=1 --gtest_filter="$(cat tests/sanitized.txt)"
  done
done
