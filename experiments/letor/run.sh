#!/usr/bin/env bash
# Tables 2 and 3 of Tune & Mix and the 2012 comparison of six algorithms under every tool, on MQ2008 and OHSUMED.
#   TUNEMIX_SHARED_DATA=... experiments/letor/run.sh [CONFIG...]     default: all six; SEEDS="1 2 3 4 5", TUNEMIX=build/bin/tunemix
# CONFIG: SET (the recommended recipe), paper/SET (the paper's), baselines/SET (the classic rankers); SET: mq2008 or ohsumed.
# Writes one line per config, seed, row and tool to results.csv (lines of other configs stay) and the tables to results.md.
set -euo pipefail
: "${TUNEMIX_SHARED_DATA:?set it to the folder that holds MQ2008/ and OHSUMED/}"
cd "$(dirname "$0")/../.."
program=${TUNEMIX:-build/bin/tunemix}
here=experiments/letor
configs=("$@")
[ ${#configs[@]} -gt 0 ] || configs=(mq2008 ohsumed paper/mq2008 paper/ohsumed baselines/mq2008 baselines/ohsumed)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for config in "${configs[@]}"; do
  arguments=("configs/$config.yaml")
  if [[ $config == baselines/* ]]; then
    set=${config#baselines/}
    arguments=("$here/baselines.yaml" "data.root=$TUNEMIX_SHARED_DATA/${set^^}")
  fi
  for seed in ${SEEDS:-1 2 3 4 5}; do
    "$program" run "${arguments[@]}" "seed=$seed" --runs "$work/runs" --quiet --json >"$work/results.json"
    python3 "$here/tables.py" add "$config" "$seed" "$work/results.json"
    rm -rf "$work/runs" # a store of some hundred MB a seed
  done
done
python3 "$here/tables.py" write
