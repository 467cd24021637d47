#!/usr/bin/env bash
# Does the mixture keep up with its best part? The recommended recipe on generated data of 10^4, 4 x 10^4, 10^5 and 7 x 10^5 training documents,
# and, where TUNEMIX_SHARED_DATA is set, on MQ2008, OHSUMED and the samples MSLR-sample and sparse300, these also with all their queries
# in five rotating folds (-folds): their own test files have 18 and 50 queries.
#   experiments/mixing/run.sh [small middle medium large quickstart mq2008 ohsumed mslr-sample sparse300 mslr-sample-folds sparse300-folds]
# default: all; SEEDS="1 2 3 4 5", WORK=runs/mixing, TUNEMIX=build/bin/tunemix
# Adds a line per set and seed to results.csv and prints the table.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "${TUNEMIX:-build/bin/tunemix}")
here=$PWD/experiments/mixing
work=${WORK:-runs/mixing}
sets=("$@")
[ ${#sets[@]} -gt 0 ] || sets=(small middle medium large quickstart ${TUNEMIX_SHARED_DATA:+mq2008 ohsumed mslr-sample sparse300 mslr-sample-folds sparse300-folds})
mkdir -p "$work"
generate() { # NAME SEED [--queries N]
  [ -f "$work/$1" ] || "$program" synth --preset mslr10k --seed "$2" --out "$work/$1" --quiet "${@:3}"
}
in_folds() { # NAME SAMPLE: S1.txt to S5.txt with the queries of all files of the sample, in turn
  mkdir -p "$work/$1"
  cat "$TUNEMIX_SHARED_DATA/$2"/*.txt | awk -v to="$work/$1" '$2 != query { query = $2; ++n } { print > (to "/S" n % 5 + 1 ".txt") }'
}
for set in "${sets[@]}"; do
  seeds=${SEEDS:-1 2 3 4 5}
  case $set in
    small) queries=140 valid=47 ;;
    middle) queries=520 valid=170 ;;
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
  elif [ "$set" = mslr-sample-folds ] || [ "$set" = sparse300-folds ]; then
    sample=${set%-folds}
    in_folds "$set" "${sample/mslr/MSLR}"
    arguments=(configs/mq2008.yaml "name=$set" "data.root=$(realpath "$work/$set")" "evaluate.tools=[yahoo]")
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
