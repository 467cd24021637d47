#!/usr/bin/env bash
# The SVM path against liblinear's solver of the same problem (-s 4) on MQ2008 and OHSUMED, fold 1: primal values
# and CPU seconds of both programs, reading the data included, on one thread. Needs liblinear-train (package liblinear-tools), TUNEMIX_SHARED_DATA, and a build with
# -DTUNEMIX_BENCHMARKS=ON; the build directory is the argument (default: build).
set -euo pipefail
build=${1:-build}
data=${TUNEMIX_SHARED_DATA:?set TUNEMIX_SHARED_DATA to the folder of the LETOR sets}
grid=(1e-4 1e-3 1e-2 1e-1 1)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C
TIMEFORMAT=%U

# 1/2 |M|^2 + c sum of losses, from liblinear's model file and the data it was trained on.
primal='
FNR == NR {
  if ($1 == "label") for (k = 2; k <= NF; ++k) column[$k] = k - 1
  if (rows) { for (k = 1; k <= NF; ++k) { M[rows, k] = $k; half += $k * $k / 2 }; if (NF) { K = NF; ++rows } }
  if ($1 == "w") rows = 1
  next
}
{
  for (k = 1; k <= K; ++k) f[k] = 0
  for (e = 2; e <= NF; ++e) { split($e, p, ":"); if (p[2] != 0) for (k = 1; k <= K; ++k) f[k] += p[2] * M[p[1], k] }
  y = column[$1]; worst = 0
  for (k = 1; k <= K; ++k) if (k != y && f[k] + 1 - f[y] > worst) worst = f[k] + 1 - f[y]
  loss += worst
}
END { printf "%.8g\n", half + c * loss }'

failed=0
for set in MQ2008 OHSUMED; do
  files=("$data/$set/S1.txt" "$data/$set/S2.txt" "$data/$set/S3.txt")
  sed -s 's/ qid:[^ ]*//; s/ *#.*//' "${files[@]}" > "$scratch/train"
  path=$({ time "$build/bench/svm_path_bench" --per-document --C "$(IFS=,; echo "${grid[*]}")" --set bias=false \
    --set scale=none --set weights=uniform --set gap=0.001 "${files[@]}" > "$scratch/ours"; } 2>&1)
  total=0
  printf '%s\n%-8s %14s %14s %10s %10s %12s\n' "$set" C/n liblinear ours ratio gap 'liblinear s'
  line=0
  for c in "${grid[@]}"; do
    line=$((line + 1))
    seconds=$({ time liblinear-train -q -s 4 -c "$c" -e 0.001 "$scratch/train" "$scratch/model"; } 2>&1)
    total=$(awk -v a="$total" -v b="$seconds" 'BEGIN { printf "%.3f", a + b }')
    theirs=$(awk -v c="$c" "$primal" "$scratch/model" "$scratch/train")
    read -r ours gap <<< "$(awk -F '\t' -v n="$line" 'NR == n { print $4, $8 }' "$scratch/ours")"
    awk -v c="$c" -v a="$theirs" -v b="$ours" -v g="$gap" -v s="$seconds" \
      'BEGIN { printf "%-8s %14s %14s %10.6f %10s %12s\n", c, a, b, b / a, g, s; exit !(b <= 1.001 * a) }' || failed=1
  done
  awk -v a="$total" -v b="$path" \
    'BEGIN { printf "seconds: liblinear %.3f, ours %.3f: %.1f times faster\n\n", a, b, a / b; exit !(5 * b <= a) }' || failed=1
done
if [ "$failed" = 0 ]; then echo 'within 0.1 % and five times faster on both'; else echo 'FAILED: see above'; fi
exit "$failed"
