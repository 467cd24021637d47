#!/usr/bin/env bash
# Builds TuneMix: scripts/build.sh DIRECTORY [CMAKE OPTIONS]. Ninja when it is there.
set -euo pipefail
cd "$(dirname "$0")/.."
directory=$1
shift
generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
cmake -S . -B "$directory" "${generator[@]}" "$@" >"$directory.log" 2>&1 || { cat "$directory.log" >&2; exit 1; }
rm -f "$directory.log"
cmake --build "$directory" --parallel "$(nproc)"
