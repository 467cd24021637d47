#!/usr/bin/env bash
# How training time and memory of the tree learners grow with documents and with features, as CSV. Memory is the peak beyond the data.
#   experiments/trees/growth.sh [THREADS] [ROUNDS]      needs build/bin/tunemix and build/bench/tree_probe; WORK=runs/growth holds the data (1 GB)
set -euo pipefail
cd "$(dirname "$0")/../.."
threads=${1:-2} rounds=${2:-30} work=${WORK:-runs/growth}
mkdir -p "$work"
generate() { # QUERIES FEATURES
  [ -f "$work/$1-$2.txt" ] || build/bin/tunemix synth --preset mslr10k --queries "$1" --features "$2" --seed 1 --out "$work/$1-$2.txt" --quiet
}
row() { # LEARNER LEAVES QUERIES FEATURES
  build/bench/tree_probe "$1" "$threads" "$work/$3-$4.txt" - - "leaves=$2" "iterations=$rounds" |
    sed -En "s/^([0-9]+) documents.* ([0-9.]+) ms a round, ([0-9]+) bytes.*/$1,$2,\1,$4,\2,\3/p"
}
echo "learner,leaves,documents,features,ms_a_round,bytes_a_document"
for size in 140:136 1400:136 14000:136 1400:34 1400:68 1400:272; do
  generate "${size%:*}" "${size#*:}"
  for learner in lambdamart:8 lambdamart:64 mart:64 yetirank:64 logitboost:64 random_forest:64 extra_trees:64; do
    row "${learner%:*}" "${learner#*:}" "${size%:*}" "${size#*:}"
  done
done
