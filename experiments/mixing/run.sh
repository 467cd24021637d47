#!/usr/bin/env bash
# Does the mixture keep up with its best part? The recommended recipe on generated data of 10^4, 10^5 and 7 x 10^5 training documents, and,
# where TUNEMIX_SHARED_DATA is set, on MQ2008, OHSUMED and the samples MSLR-sample and sparse300.
#   experiments/mixing/run.sh [small medium large mq2008 ohsumed mslr-sample sparse300 quickstart]     default: all; SEEDS="1 2 3 4 5", WORK=runs/mixing, TUNEMIX=build/bin/tunemix
# Adds a line per set and seed to results.csv and prints the table.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "${TUNEMIX:-build/bin/tunemix}")
here=$PWD/experiments/mixing
work=${WORK:-runs/mixing}
sets=("$@")
[ ${#sets[@]} -gt 0 ] || sets=(small medium large quickstart ${TUNEMIX_SHARED_DATA:+mq2008 ohsumed mslr-sample sparse300})
mkdir -p "$work"
generate() { # NAME SEED [--queries N]
  [ -f "$work/$1" ] || "$program" synth --preset mslr10k --seed "$2" --out "$work/$1" --quiet "${@:3}"
}
for set in "${sets[@]}"; do
  seeds=${SEEDS:-1 2 3 4 5}
  case $set in
    small) queries=140 valid=47 ;;
    medium) queries=1400 valid=467 ;;
    large) queries='' valid=3300 ;;
    *) queries=none ;;
  esac
  if [ "$set" = mslr-sample ]; then
    folder=$TUNEMIX_SHARED_DATA/MSLR-sample
    arguments=(--data-train "$folder/train.txt" --data-valid "$folder/vali.txt" --data-test "$folder/test.txt" "name=$set")
  elif [ "$set" = sparse300 ]; then # no validation split: a fifth of the training queries is taken
    folder=$TUNEMIX_SHARED_DATA/sparse300
    arguments=(--data-train "$folder/train.txt" --data-test "$folder/test.txt" "name=$set")
  elif [ "$queries" = none ]; then
    arguments=("configs/$set.yaml")
  else
    generate "$set-train.txt" 5 ${queries:+--queries $queries}
    generate "$set-valid.txt" 6 --queries $valid
    generate test.txt 7 --queries 3300
    arguments=(--data-train "$work/$set-train.txt" --data-valid "$work/$set-valid.txt" --data-test "$work/test.txt" "name=$set")
  fi
  for seed in $seeds; do
    "$program" run "${arguments[@]}" "seed=$seed" --runs "$work/runs-$set-$seed" --quiet --json >"$work/results.json"
    python3 "$here/table.py" add "$set" "$seed" "$work/results.json"
    rm -rf "$work/runs-$set-$seed"
  done
done
python3 "$here/table.py" show
