#!/bin/bash
# Milliseconds of a round of boosting by two builds of the program, or one under two settings of the environment,
# taking turns; the lowest of each counts.
# usage: boost_rounds.sh FILE TURNS ROUNDS "SETTINGS..." "THREADS..." PROGRAM_A PROGRAM_B, as in
#   boost_rounds.sh data.txt 3 20 "leaves=8 leaves=64 leaves=64,bandit=exp3g" "1 2 4" before/tunemix "env A=B build/bin/tunemix"
set -eu
data=$1 turns=$2 rounds=$3 settings=$4 threads=$5 a=$6 b=$7
round() {
  $1 train --data "$data" --learner adaboost_mh --set iterations="$rounds" --threads "$2" --json $3 2> /dev/null |
    sed 's/.*"fit":\([0-9.e-]*\).*/\1/' | awk -v r="$rounds" '{ print 1000 * $1 / r }'
}
lowest() { printf '%s\n' $1 | sort -g | head -1; }
echo "setting,threads,a_ms,b_ms,b/a"
for setting in $settings; do
  sets=$(printf -- '--set %s ' ${setting//,/ })
  for t in $threads; do
    times_a= times_b=
    for turn in $(seq "$turns"); do
      times_a="$times_a $(round "$a" "$t" "$sets")"
      times_b="$times_b $(round "$b" "$t" "$sets")"
    done
    echo "$setting $t $(lowest "$times_a") $(lowest "$times_b")" | awk '{ printf "%s,%s,%.2f,%.2f,%.2f\n", $1, $2, $3, $4, $4 / $3 }'
  done
done
