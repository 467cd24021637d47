#!/usr/bin/env bash
# Checks format (clang-format) of all sources and lint (clang-tidy) of src, pipeline and tests:
#   scripts/check-style.sh [BUILD_DIR]      build-lint by default: configured for its compile commands, nothing is built
# A dozen files are linted at a time, as a unity build compiles them: that reads the headers once and takes a quarter of the time.
set -euo pipefail
cd "$(dirname "$0")/.."
directory=${1:-build-lint}
mapfile -t files < <(git ls-files '*.h' '*.cc')
clang-format --dry-run --Werror "${files[@]}"

# The one finding that a unity source hides: it looks at aliases of the main file alone.
unused=$(git ls-files 'src/*.cc' 'pipeline/*.cc' 'tests/*.cc' | while read -r file; do
  sed -n 's/^ *namespace \([a-z_]*\) = .*/\1/p' "$file" | while read -r name; do
    grep -q "\b$name::" "$file" || echo "$file: namespace alias '$name' is unused"
  done
done)
[ -z "$unused" ] || { echo "$unused" >&2; exit 1; }

cmake -S . -B "$directory" -DCMAKE_CXX_COMPILER=clang++ -DTUNEMIX_UNITY=ON -DTUNEMIX_TESTS=ON -DTUNEMIX_PYTHON=OFF \
  -DTUNEMIX_BENCHMARKS=OFF -DTUNEMIX_CHARTS=OFF >/dev/null
mapfile -t sources < <(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$directory/compile_commands.json" |
  grep -E "^$PWD/(src|pipeline|tests)/|/Unity/" | sort -u)
[ ${#sources[@]} -gt 10 ] || { echo "$directory: no compile commands of the sources" >&2; exit 1; }
# clang-tidy counts the warnings it suppressed on stderr, a line a file: shown only when a file fails.
lint() {
  local errors status=0 checks=-bugprone-suspicious-include
  # What tests may do is said beside them, where no unity source lies.
  [[ "$2" != */tests/* ]] || checks+=,$(sed -n 's/^  *-/-/p' tests/.clang-tidy | tr -d '\n')
  errors=$(mktemp)
  clang-tidy --quiet -p "$1" --checks="$checks" --extra-arg=-Wno-unknown-warning-option "$2" 2>"$errors" || status=$?
  [ "$status" = 0 ] || { echo "$2: clang-tidy fails"; cat "$errors"; } >&2
  rm -f "$errors"
  return "$status"
}
export -f lint
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} bash -c 'lint "$@"' _ "$directory" {}
echo "style: ${#files[@]} files formatted, ${#sources[@]} sources linted"
