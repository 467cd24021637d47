#!/bin/sh
# Milliseconds a tree of lambdamart against LightGBM's lambdarank ($LIGHTGBM names its program) and XGBoost's
# rank:ndcg (the `xgboost` program), on the same file and threads; the programs take turns, the lowest counts.
# XGBoost divides its gradients of rank:ndcg by large numbers: with its own min_child_weight = 1 no tree would have a cut.
# usage: lambdamart_vs_peers.sh [DOCUMENTS-FILE] [THREADS] [ROUNDS] [TURNS]; without a file one is made by `tunemix synth`.
# Needs build/bin/tunemix and build/bench/tree_probe (-DTUNEMIX_BENCHMARKS=ON).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
threads=${2:-2}
rounds=${3:-30}
turns=${4:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
data=${1:-}
if [ -z "$data" ]; then
  data=$scratch/data.txt
  "$root/build/bin/tunemix" synth --preset mslr10k --queries 1727 --seed 1 --out "$data" > /dev/null 2>&1
fi
sed 's/ qid:[^ ]*//; s/ *#.*//' "$data" > "$scratch/plain.txt"
awk '{ if ($2 != last) { if (n) print n; n = 0; last = $2 } ++n } END { print n }' "$data" > "$scratch/plain.txt.query"
cp "$scratch/plain.txt.query" "$scratch/plain.txt.group"
echo "$(wc -l < "$data") documents, $threads threads, $rounds rounds, lowest of $turns"

ours() {
  "$root/build/bench/tree_probe" lambdamart "$threads" "$data" - - leaves="$1" iterations="$rounds" |
    sed -n 's/.* s, \([0-9.]*\) ms a round.*/\1/p'
}
lightgbm_tree() {
  leaves=$1
  shift
  "$LIGHTGBM" task=train objective=lambdarank data="$scratch/plain.txt" num_leaves="$leaves" num_iterations="$rounds" \
    num_threads="$threads" output_model="$scratch/l.model" "$@" 2>&1 |
    awk '/seconds elapsed/ { if (!n++) first = $3; last = $3 } END { print (last - first) * 1000 / (n - 1) }'
}
xgboost_seconds() {
  start=$(date +%s.%N)
  xgboost /dev/null "data=$scratch/plain.txt?format=libsvm" objective=rank:ndcg tree_method=hist grow_policy=lossguide \
    max_depth=0 max_leaves="$1" min_child_weight=0 lambda=0.0001 num_round="$2" nthread="$threads" verbosity=0 model_out="$scratch/x.model" > /dev/null 2>&1
  echo "$(date +%s.%N) - $start" | bc -l
}
lowest() { sort -g "$1" | head -1; }

echo "leaves,program,ms_a_tree"
for leaves in 64 8; do
  rm -f "$scratch"/time.*
  for turn in $(seq "$turns"); do
    ours $leaves >> "$scratch/time.tunemix"
    if [ -n "${LIGHTGBM:-}" ]; then
      lightgbm_tree $leaves >> "$scratch/time.lightgbm"
      lightgbm_tree $leaves use_quantized_grad=true >> "$scratch/time.lightgbm_quantized"
    fi
    if command -v xgboost > /dev/null; then
      # The difference of a long and a short run: loading and binning cancel out.
      xgboost_seconds $leaves 1 >> "$scratch/short"
      xgboost_seconds $leaves $((rounds + 1)) >> "$scratch/long"
    fi
  done
  for program in tunemix lightgbm lightgbm_quantized; do
    if [ -f "$scratch/time.$program" ]; then echo "$leaves,$program,$(lowest "$scratch/time.$program")"; fi
  done
  if [ -f "$scratch/long" ]; then
    echo "$leaves,xgboost,$(echo "($(lowest "$scratch/long") - $(lowest "$scratch/short")) * 1000 / $rounds" | bc -l)"
    rm -f "$scratch/long" "$scratch/short"
  fi
done
[ -n "${LIGHTGBM:-}" ] || echo "LIGHTGBM is not set: LightGBM was not measured"
command -v xgboost > /dev/null || echo "xgboost is not installed: not measured"
