#!/usr/bin/env bash
# Builds TuneMix: scripts/build.sh DIRECTORY [CMAKE OPTIONS] [--target TARGET...]. Ninja when it is there.
set -euo pipefail
cd "$(dirname "$0")/.."
directory=$1
shift
options=()
while [ $# -gt 0 ] && [ "$1" != "--target" ]; do
  options+=("$1")
  shift
done
generator=()
[ -e "$directory/CMakeCache.txt" ] || ! command -v ninja >/dev/null || generator=(-G Ninja)
log=$(mktemp)
cmake -S . -B "$directory" "${generator[@]}" "${options[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
rm -f "$log"
cmake --build "$directory" --parallel "$(nproc)" "$@"
