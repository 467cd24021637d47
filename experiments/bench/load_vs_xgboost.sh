#!/usr/bin/env bash
# Text to binned data in memory: tunemix against the xgboost program, whole processes, interleaved, best of N.
#   experiments/bench/load_vs_xgboost.sh BUILD_DIR [THREADS] [REPEATS]
# The peer has no command that only loads. It is run twice with trees of one split (tree_method=hist,
# max_bin=255): once for 1 round and once for 11; a tenth of the difference is a round, and the first run less
# one round is its load: program start, text parsing, quantile sketch and binning. Ours is timed as a whole
# process too. CPU seconds (user and system, all threads) stand beside the wall clock, since they hardly move
# when other work shares the machine.
set -euo pipefail
build=${1:?usage: load_vs_xgboost.sh BUILD_DIR [THREADS] [REPEATS]}
threads=${2:-2}
repeats=${3:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=$threads OMP_WAIT_POLICY=passive LC_ALL=C

# 243 000 documents, 136 features, 5 labels.
"$build/bin/tunemix" synth --preset mslr10k --queries 3436 --seed 1 --threads "$threads" --out "$work/data.txt"

TIMEFORMAT='%R %U %S'
# timed NAME COMMAND...: appends "wall cpu" to NAME's list.
timed() {
  local name=$1 figures
  shift
  figures=$({ time "$@" >"$work/$name.out" 2>"$work/$name.err"; } 2>&1)
  awk '{print $1, $2 + $3}' <<<"$figures" >>"$work/$name.times"
}
peer() {
  xgboost /dev/null data="$work/data.txt?format=libsvm" objective=reg:squarederror tree_method=hist max_bin=255 \
    max_depth=1 nthread="$threads" num_round="$1" model_out="$work/model" verbosity=1
}
for _ in $(seq "$repeats"); do
  timed ours "$build/bench/load_bench" "$work/data.txt" "$threads" 1
  timed peer1 peer 1
  timed peer11 peer 11
done
cat "$work/ours.out"
best() { sort -g -k"$2" "$work/$1.times" | head -n 1 | cut -d' ' -f"$2"; }
for column in 1 2; do
  name=$([ "$column" = 1 ] && echo wall || echo cpu)
  awk -v ours="$(best ours $column)" -v one="$(best peer1 $column)" -v eleven="$(best peer11 $column)" -v name="$name" \
    'BEGIN { load = one - (eleven - one) / 10
             printf "%-4s  tunemix %.2f s, xgboost %.2f s (1 round %.2f s, 11 rounds %.2f s), ratio %.1f\n",
                    name, ours, load, one, eleven, load / ours }'
done
