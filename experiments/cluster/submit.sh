#!/usr/bin/env bash
# Plans 10 000 trivial jobs and submits them to a Slurm that is started here (munged, slurmctld and slurmd on loopback; needs root), one job a task, at
# two limits of the controller. Usage: experiments/cluster/submit.sh [BUILD]
set -euo pipefail
program=$(realpath "${1:-build}/bin/tunemix")
export PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d /tmp/tunemix-cluster-XXXXXX)
pids=()
stop() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  pids=()
}
trap 'stop; rm -rf "$work"' EXIT
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

start() { # MaxJobCount
  local f=$work/slurm host
  host=$(hostname -s)
  rm -rf "$f"
  mkdir -p "$f/state" "$f/spool"
  head -c 128 /dev/zero | tr '\0' k > "$f/munge.key"
  chmod 400 "$f/munge.key"
  cat > "$f/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$f/munge.socket
SlurmctldPort=$(port)
SlurmdPort=$(port)
StateSaveLocation=$f/state
SlurmdSpoolDir=$f/spool
SlurmctldPidFile=$f/slurmctld.pid
SlurmdPidFile=$f/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MaxJobCount=$1
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=500 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=DOWN
CONF
  export SLURM_CONF=$f/slurm.conf
  munged -F --force --socket="$f/munge.socket" --key-file="$f/munge.key" --pid-file="$f/munged.pid" \
    --log-file="$f/munged.log" --seed-file="$f/munged.seed" > /dev/null 2>&1 &
  pids+=($!)
  until [ -e "$f/munge.socket" ]; do sleep 0.1; done
  slurmctld -D -L "$f/slurmctld.log" > /dev/null 2>&1 &
  pids+=($!)
  slurmd -D -L "$f/slurmd.log" > /dev/null 2>&1 &
  pids+=($!)
  until [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]; do sleep 0.2; done
}

cd "$work"
cat > many.yaml <<'YAML'
name: many
data: {synthetic: {preset: quickstart, queries: 10}}
learners:
  - {type: adaboost_mh, base: tree, leaves: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11], iterations: 1, bags: 1000}
calibrate: {cpc: [shift], rbc: {regressors: [linear], targets: [raw]}}
YAML
for limit in 20000 10000; do
  start $limit
  rm -rf runs
  begin=$(date +%s.%N)
  "$program" run many.yaml --engine slurm --detach engine.slurm.jobs_per_task=1 engine.slurm.memory_mb=100 > out 2>&1 || { cat out; exit 1; }
  end=$(date +%s.%N)
  echo "MaxJobCount=$limit: $(squeue --noheader --array | wc -l) tasks of one job in $(squeue --noheader | wc -l) arrays, planned and submitted in $(echo "$end - $begin" | bc | cut -c1-5) s"
  sed 's/^/  | /' out
  begin=$(date +%s.%N)
  "$program" status many.yaml --engine slurm | sed -n '2,3p' | sed 's/^/  | /'
  echo "status: $(echo "$(date +%s.%N) - $begin" | bc | cut -c1-5) s"
  # What a task does before its job.
  manifest=$(find runs/many/tasks -name manifest.json | head -1)
  begin=$(date +%s.%N)
  "$program" task "$manifest" --number 0 2>&1 | sed 's/^/  | /'
  echo "one task, all told: $(echo "$(date +%s.%N) - $begin" | bc | cut -c1-5) s"
  scancel --user="$(id -un)"
  stop
done
