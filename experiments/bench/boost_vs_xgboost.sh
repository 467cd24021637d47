#!/bin/sh
# Seconds a round of boosting against XGBoost's multi:softprob with as many leaves, on the same file and threads.
# usage: boost_vs_xgboost.sh [DOCUMENTS-FILE] [THREADS] [ROUNDS] [TURNS]; without a file one is made by `tunemix synth`.
# Needs build/bin/tunemix, build/bench/boost_bench and the `xgboost` program.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
program=$root/build/bin/tunemix
threads=${2:-2}
rounds=${3:-20}
turns=${4:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
data=${1:-}
if [ -z "$data" ]; then
  data=$scratch/data.txt
  "$program" synth --preset mslr10k --queries 2000 --seed 1 --out "$data"
fi
documents=$(grep -c . "$data")
features=$(head -1 "$data" | sed 's/#.*//' | wc -w)
features=$((features - 2))
labels=$(awk '$1 > most { most = $1 } END { print most + 1 }' "$data")
sed 's/ qid:[^ ]*//; s/ *#.*//' "$data" > "$scratch/plain.txt"

now() { date +%s.%N; }
# Seconds of one XGBoost run, and a round of it and ours: the programs take turns, and the lowest of each counts.
xgboost_run() {
  start=$(now)
  xgboost /dev/null "data=$scratch/plain.txt?format=libsvm" objective=multi:softprob num_class="$labels" tree_method=hist \
    grow_policy=lossguide max_depth=0 max_leaves="$1" num_round="$2" nthread="$threads" verbosity=0 \
    model_out="$scratch/x.model" > /dev/null 2>&1
  echo "$(now) - $start" | bc -l
}
tunemix_round() {
  "$program" train --data "$data" --learner adaboost_mh --set iterations="$rounds" --threads "$threads" --json "$@" |
    sed 's/.*"fit":\([0-9.e-]*\).*/\1/' | awk -v r="$rounds" '{ print $1 / r }'
}
lowest() { sort -g "$1" | head -1; }
bandwidth=$("$root/build/bench/boost_bench" --benchmark_filter="memory_bandwidth/$threads" --benchmark_format=csv 2> /dev/null |
  awk -F, '/^"memory/ { print $6 }')
echo "$documents documents, $features features, $labels labels, $threads threads, $rounds rounds, lowest of $turns"
echo "setting,tunemix_s_a_round,xgboost_s_a_round,ratio,ns_per_document_feature,share_of_bandwidth"
for leaves in 64 8; do
  rm -f "$scratch"/time.*
  for turn in $(seq "$turns"); do
    # The difference of a long and a short run: loading and binning cancel out.
    xgboost_run $leaves 1 >> "$scratch/time.short"
    xgboost_run $leaves $((rounds + 1)) >> "$scratch/time.long"
    for setting in "base=tree leaves=$leaves" "base=tree leaves=$leaves growth=edge" "base=tree leaves=$leaves bandit=value" \
      "base=product bandit=value"; do
      tunemix_round $(for s in $setting; do echo "--set $s"; done) >> "$scratch/time.$setting"
    done
  done
  peer=$(echo "($(lowest "$scratch/time.long") - $(lowest "$scratch/time.short")) / $rounds" | bc -l)
  for file in "$scratch"/time.base*; do
    # The least that a round must read: every bin once, without a bandit.
    echo "$(lowest "$file") $peer" | awk -v s="${file#*/time.}" -v n="$documents" -v d="$features" -v b="$bandwidth" '{
      share = s ~ /bandit/ ? "-" : sprintf("%.2f", n * d / b / $1)
      printf "%s,%.4f,%.4f,%.1f,%.2f,%s\n", s, $1, $2, $2 / $1, $1 / (n * d) * 1e9, share }'
  done
done
