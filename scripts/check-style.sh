#!/usr/bin/env bash
# Checks format (clang-format) and lint (clang-tidy) of the sources; needs a build directory for its compile commands.
set -euo pipefail
cd "$(dirname "$0")/.."
directory=${1:-build}
mapfile -t files < <(git ls-files '*.h' '*.cc')
clang-format --dry-run --Werror "${files[@]}"
mapfile -t sources < <(git ls-files 'src/*.cc' 'pipeline/*.cc')
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p "$directory" 2>/dev/null
echo "style: ${#files[@]} files formatted, ${#sources[@]} linted"
