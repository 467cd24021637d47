#!/bin/sh
# Makes every figure: data as CSV and JSON, pictures as SVG, beside this script. What is cached is not computed again.
# Needs TUNEMIX_SHARED_DATA and a built program (TUNEMIX, else build/bin/tunemix); FIGURES_WORK holds runs and subsets.
#   experiments/figures/run.sh [learning_curves training_size ndcg_targets cpc_diversity tools selection surface]
set -eu
: "${TUNEMIX_SHARED_DATA:?set it to the folder that holds MQ2008/ and OHSUMED/}"
export PYTHONDONTWRITEBYTECODE=1
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- learning_curves training_size ndcg_targets cpc_diversity tools selection surface
for figure in "$@"; do
  echo "$figure"
  python3 "$figure.py"
done
