#!/bin/sh
# Writes FOLDER/*.csv: run.sh PROGRAM DATA FOLDER, with PROGRAM bandit_curve and DATA the folder of the real
# sets. PREFIX, if set, is put before each command.
set -eu
program=$1
data=$2
out=$3
mkdir -p "$out"
all=random,exp3a,value,exp3g,exp3,exp3p,ucb1,ucbv
for set in useful mslr10k "$data"/sparse300 "$data"/MSLR-sample "$data"/MQ2008 "$data"/OHSUMED; do
  name=$(basename "$set")
  for base in stump tree product; do
    rounds=200
    if [ $base = stump ]; then rounds=1000; fi
    ${PREFIX:-} "$program" "$set" $rounds 5 base=$base bandit=none > "$out/$name-$base.csv"
    ${PREFIX:-} "$program" "$set" $rounds 5 base=$base bandit=$all arms_per_pull=1,4,16 | tail -n +2 >> "$out/$name-$base.csv"
  done
  # Only with real votes does the growth of trees by energy make the bound as small as it can.
  ${PREFIX:-} "$program" "$set" 200 5 base=tree votes=real bandit=none > "$out/$name-real.csv"
  ${PREFIX:-} "$program" "$set" 200 5 base=tree votes=real bandit=random,exp3a,value arms_per_pull=1,4,16 | tail -n +2 >> "$out/$name-real.csv"
done
# Ten times as many rounds, for what a fifth of the full search's seconds brings.
for set in useful "$data"/sparse300; do
  name=$(basename "$set")
  for base in stump tree product real; do
    rounds=2000
    settings="base=$base"
    if [ $base = stump ]; then rounds=10000; fi
    if [ $base = real ]; then settings="base=tree votes=real"; fi
    # shellcheck disable=SC2086
    ${PREFIX:-} "$program" "$set" $rounds 5 $settings bandit=random,exp3a,value arms_per_pull=1,4,16 > "$out/$name-$base-long.csv"
  done
done
