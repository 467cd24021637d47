#!/bin/sh
# Writes FOLDER/*.csv: run.sh PROGRAM DATA FOLDER, with PROGRAM bandit_curve and DATA the folder of the real
# sets; JOBS at a time (1 unless set).
set -eu
program=$1
data=$2
out=$3
mkdir -p "$out"

# job FILE SET ROUNDS SEEDS SETTINGS... prints one command.
job() {
  file=$1
  shift
  echo "$program $* > $out/$file.csv"
}

# The settings and the rounds of a base learner. Only with real votes does the growth of trees by energy make the
# bound as small as it can.
settings() { if [ "$1" = real ]; then echo "base=tree votes=real"; else echo "base=$1"; fi; }
rounds() { if [ "$1" = stump ]; then echo 1000; else echo 200; fi; }

jobs() {
  for set in useful mslr10k "$data"/sparse300 "$data"/MSLR-sample "$data"/MQ2008 "$data"/OHSUMED; do
    name=$(basename "$set")
    for base in stump tree product real; do
      rules=random,exp3a,value,exp3g,exp3,exp3p,ucb1,ucbv
      if [ $base = real ]; then rules=random,exp3a,value; fi
      job "$name-$base-none" "$set" "$(rounds $base)" 5 "$(settings $base)" bandit=none
      job "$name-$base-drawn" "$set" "$(rounds $base)" 5 "$(settings $base)" bandit=$rules arms_per_pull=1,4,16
      # Ten times as many rounds, for what a fifth of the full search's seconds brings.
      case $name in useful | sparse300)
        job "$name-$base-long" "$set" "$(rounds $base)0" 5 "$(settings $base)" bandit=random,exp3a,value \
          arms_per_pull=1,4,16 ;;
      esac
    done
  done
  for base in stump tree product real; do
    job "mslr10k-large-$base" mslr10k-large "$(rounds $base)" 3 "$(settings $base)" bandit=none,random,exp3a,value \
      arms_per_pull=4
  done
}

jobs | xargs -P "${JOBS:-1}" -I '{}' sh -c '{}'
