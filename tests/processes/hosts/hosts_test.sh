#!/usr/bin/env bash
# scripts/hosts, with hosts of its own beside any that are up. Skipped (exit code 77) without root,
# without iproute2, and where network namespaces cannot be made.
set -euo pipefail

root=$(cd "$(dirname "$0")/../../.." && pwd)
export NARROWCAST_HOSTS=test-$$
hosts=$root/scripts/hosts
scratch=$(mktemp -d)
failures=0
trap '"$hosts" down >"$scratch/down" 2>&1 || true; rm -rf "$scratch"' EXIT

# expect NAME CODE COMMAND...: its exit code; what it prints goes to $scratch/out and $scratch/err.
expect() {
  local name=$1 wanted=$2 code=0
  shift 2
  "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
  if [[ $code == "$wanted" ]]; then
    echo "ok      $name"
    return
  fi
  echo "FAILED  $name: exit code $code, not $wanted"
  cat "$scratch/out" "$scratch/err"
  failures=$((failures + 1))
}

# the_output_of NAME PATTERN FILE: must have a line that matches.
the_output_of() {
  if grep -Eqx "$2" "$scratch/$3"; then return; fi
  echo "FAILED  $1: nothing in $3 matches $2"
  cat "$scratch/$3"
  failures=$((failures + 1))
}

# same NAME WANTED FOUND
same() {
  expect "$1 ($3)" 0 test "$2" = "$3"
}

namespaces() {
  ip netns list | grep -c "^narrowcast-$NARROWCAST_HOSTS-" || true
}

if ! "$hosts" up 2 --rate 50mbit --no-check >"$scratch/out" 2>"$scratch/err"; then
  cat "$scratch/err"
  if grep -Eq "take root|there is no|lets nobody make" "$scratch/err"; then exit 77; fi
  exit 1
fi
expect "A wrong rate is refused" 2 "$hosts" up 2 --rate fast
expect "One host is no set of hosts" 2 "$hosts" up 1
expect "A command of another name is refused" 2 "$hosts" upp
expect "Hosts replace those that are up when told to" 0 "$hosts" up 2 --rate 100mbit --again
the_output_of "up" "0\.4 MB: [0-9.]+ Mbit/s, (9[0-9]|10[0-9]) % of the rate: ok" out
the_output_of "up" "26 MB: [0-9.]+ Mbit/s, (9[0-9]|10[0-9]) % of the rate: ok" out
expect "Hosts that are up are not made twice" 5 "$hosts" up 2
expect "Hosts are listed" 0 "$hosts" status
the_output_of "status" "host 1  10\.77\.0\.2  100Mbit .*" out

show='echo "$RANK of $WORLD_SIZE by $MASTER_ADDR:$MASTER_PORT on $GLOO_SOCKET_IFNAME"; echo hm >&2'
expect "A command runs in every host" 0 "$hosts" run --port 1234 -- sh -c "$show"
the_output_of "host 0" "0 of 2 by 10\.77\.0\.1:1234 on eth0" out
the_output_of "host 0" "host 0: hm" err
the_output_of "host 1" "host 1: hm" err
same "Only host 0's output is shown" 1 "$(wc -l <"$scratch/out")"
expect "A failing rank's exit code is that of the run" 7 "$hosts" run -- sh -c 'exit $((RANK * 7))'
the_output_of "run" "scripts/hosts: host 1 ended with exit code 7" err
expect "A killed rank's too" 137 "$hosts" run -- sh -c '[ $RANK = 0 ] || kill -9 $$'
expect "What a failed rank leaves waiting is ended" 3 timeout 60 \
  "$hosts" run -- sh -c '[ $RANK = 0 ] && exit 3; exec sleep 1000'
expect "An address is a host to the remote shell" 0 "$hosts" rsh -x 10.77.0.2 ip -4 -o address
the_output_of "rsh" ".* inet 10\.77\.0\.2/24 .*" out
expect "Exit codes pass through the remote shell" 9 "$hosts" rsh 10.77.0.1 exit 9
expect "Another address is refused" 2 "$hosts" rsh 10.77.0.9 true

# mpi_reaches_every_host MPI LAUNCHER
mpi_reaches_every_host() {
  if ! command -v "$2" >/dev/null; then
    echo "skipped $1: there is no $2"
    return
  fi
  expect "$1 reaches every host" 0 "$hosts" mpirun --mpi "$1" -- \
    sh -c 'ip -4 -o address show dev eth0; taskset -cp $$'
  the_output_of "$1" ".* inet 10\.77\.0\.1/24 .*" out
  the_output_of "$1" ".* inet 10\.77\.0\.2/24 .*" out
  if (($(nproc) > 1)); then
    same "Under $1 each host has a core of its own" 2 \
      "$(sed -n 's/.*affinity list: //p' "$scratch/out" | sort -u | wc -l)"
  fi
}
mpi_reaches_every_host openmpi mpirun.openmpi
mpi_reaches_every_host mpich mpiexec.mpich

# The daemons that MPI starts in hosts end by themselves, some time after mpirun: they are its own.
without_daemons() {
  local tenth
  for ((tenth = 0; tenth < 300; ++tenth)); do
    "$hosts" status | grep -q ' [1-9][0-9]* processes ' || return 0
    sleep 0.1
  done
  return 1
}
expect "MPI leaves nothing in the hosts" 0 without_daemons

# Ends the run by a signal once both ranks are there, which is when host 0 prints a line: it waits
# for host 1 before.
interrupted_run() {
  mkfifo "$scratch/zero" "$scratch/lines"
  "$hosts" run -- sh -c 'if [ $RANK = 0 ]; then read -r x <'"$scratch"'/zero; echo both; else
    echo here >'"$scratch"'/zero; fi; exec sleep 1000' >"$scratch/lines" &
  local run=$!
  read -r _ <"$scratch/lines"
  kill -TERM "$run"
  wait "$run"
}
expect "A signal ends the run and its ranks" 143 interrupted_run
expect "Nothing runs in the hosts after it" 0 "$hosts" status
the_output_of "status" "host 0 .*  0 processes .*" out
the_output_of "status" "host 1 .*  0 processes .*" out

expect "Hosts are removed" 0 "$hosts" down
same "No namespace is left" 0 "$(namespaces)"
expect "Removing them again is fine" 0 "$hosts" down
expect "Without hosts nothing runs" 5 "$hosts" run -- true

[[ $failures == 0 ]]
