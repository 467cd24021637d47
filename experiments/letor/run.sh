#!/usr/bin/env bash
# Tables 2 and 3 on MQ2008 and OHSUMED: every row, five seeds, the recommended recipe and the paper's.
#   TUNEMIX_SHARED_DATA=... experiments/letor/run.sh [CONFIG...]     default: all four; SEEDS="1 2 3 4 5", TUNEMIX=build/bin/tunemix
# Writes one line per config, seed and row to results.csv (lines of other configs stay) and the tables to results.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${TUNEMIX:-build/bin/tunemix}
here=experiments/letor
configs=("$@")
[ ${#configs[@]} -gt 0 ] || configs=(mq2008 ohsumed paper/mq2008 paper/ohsumed)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for config in "${configs[@]}"; do
  for seed in ${SEEDS:-1 2 3 4 5}; do
    "$program" run "configs/$config.yaml" "seed=$seed" --runs "$work/runs" --quiet --json >"$work/results.json"
    python3 "$here/tables.py" add "$config" "$seed" "$work/results.json"
    rm -rf "$work/runs" # a store of some hundred MB a seed
  done
done
python3 "$here/tables.py" write
