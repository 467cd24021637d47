#!/usr/bin/env bash
# Every fuzz target with so many inputs: tests/fuzz/all.sh BUILD_DIR COUNT SEED TABLE. A row a target is added to the table: target, seed,
# number of the first input, inputs, accepted, seconds, MB; one that is there is not made again. Failures go to TABLE.failures.
set -uo pipefail
programs=$(realpath "$1")/tests/fuzz count=$2 seed=$3 table=$4
touch "$table"
for target in $("$programs/artifact_fuzz" --list) letor; do
  program=artifact_fuzz
  [ "$target" != letor ] || program=letor_fuzz
  awk -F'\t' -v target="$target" -v seed="$seed" '{ gsub(/ /, "", $1) } $1 == target && $2 == seed { found = 1 } END { exit !found }' \
    "$table" && continue
  "$programs/$program" "$target" "$count" "$seed" >>"$table" 2>>"$table.failures" ||
    echo "$target, seed $seed: exit code $?" >>"$table.failures"
done
