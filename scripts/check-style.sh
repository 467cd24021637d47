#!/usr/bin/env bash
# Checks format (clang-format) of all sources and lint (clang-tidy) of those that the build directory compiles, but benchmarks:
#   scripts/check-style.sh [BUILD_DIR]      the build directory is there for its compile commands
set -euo pipefail
cd "$(dirname "$0")/.."
directory=${1:-build}
[ -e "$directory/compile_commands.json" ] || { echo "$directory: no compile_commands.json; configure it first" >&2; exit 1; }
mapfile -t files < <(git ls-files '*.h' '*.cc')
clang-format --dry-run --Werror "${files[@]}"
mapfile -t sources < <(git ls-files 'src/*.cc' 'pipeline/*.cc' 'tests/*.cc' | while read -r file; do
  if grep -q "\"file\": \"$PWD/$file\"" "$directory/compile_commands.json"; then echo "$file"; fi
done)
# clang-tidy counts the warnings it suppressed on stderr, a line a file: shown only when a file fails.
lint() {
  local errors status=0
  errors=$(mktemp)
  clang-tidy --quiet -p "$1" --extra-arg=-Wno-unknown-warning-option "$2" 2>"$errors" || status=$?
  [ "$status" = 0 ] || { echo "$2: clang-tidy fails"; cat "$errors"; } >&2
  rm -f "$errors"
  return "$status"
}
export -f lint
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} bash -c 'lint "$@"' _ "$directory" {}
echo "style: ${#files[@]} files formatted, ${#sources[@]} linted"
