# The part of scripts/hosts that starts programs in the hosts; it uses what that script defines.
# shellcheck shell=bash disable=SC2154

# -- run -----------------------------------------------------------------------------------------

# By host: the process ids of the ranks that still run, and of all that were started.
ranks=()
started=()
# The processes that prefix what ranks write to stderr.
readers=()
# When ranks get the next signal, in SECONDS of this shell; 0 is never.
deadline=0
next_signal=TERM
was_interrupted=
# The exit code of run.
verdict=0

# signal_sessions SIGNAL PID...: each with all that it has started.
signal_sessions() {
  local name=$1 pid
  shift
  for pid in "$@"; do kill -s "$name" -- "-$pid" 2>/dev/null || true; done
}

# wait_for_sessions PID...: until nothing is left of them, for 2 s at most: what was killed may take a moment to go.
wait_for_sessions() {
  local pid tenth
  for ((tenth = 0; tenth < 20; ++tenth)); do
    for pid in "$@"; do kill -0 -- "-$pid" 2>/dev/null && break; done || return 0
    sleep 0.1
  done
}

# Asks the ranks to end, and no longer asks when they have not after 2 s.
end_ranks() {
  signal_sessions "$next_signal" "${ranks[@]}"
  next_signal=KILL
  deadline=$((SECONDS + 2))
}

# interrupted EXIT_CODE: the first time ranks have half a minute, to finish a step and write what they
# keep.
interrupted() {
  verdict=$1
  end_ranks
  if [[ -z $was_interrupted ]]; then deadline=$((SECONDS + 30)); fi
  was_interrupted=yes
}

# start_rank HOST OUTPUT CMD...
start_rank() {
  local host=$1 output=$2 errors
  shift 2
  inside "$host"
  exec {errors}> >(exec setsid sed -u "s/^/host $host: /" >&"$console")
  readers+=($!)
  # In a session of its own, so that Ctrl-C reaches it through us alone; and it does not outlive us.
  RANK=$host setsid setpriv --pdeathsig KILL "${enter[@]}" "$@" 1>&"$output" 2>&"$errors" &
  ranks[host]=$!
  started[host]=$!
  exec {errors}>&-
}

# rank_ended HOST: the first that fails gives the verdict, and the others have 10 s from then.
rank_ended() {
  local code=0
  wait "${ranks[$1]}" || code=$?
  unset "ranks[$1]"
  if ((code != 0 && verdict == 0)); then
    verdict=$code
    deadline=$((SECONDS + 10))
    echo "scripts/hosts: host $1 ended with exit code $code" >&"$console"
  fi
}

# Looks 20 times a second: bash's `wait -n` loses a child that a signal ended before it was called.
wait_for_ranks() {
  local host never
  exec {never}<> <(:)
  while ((${#ranks[@]} > 0)); do
    for host in "${!ranks[@]}"; do
      kill -0 "${ranks[$host]}" 2>/dev/null || rank_ended "$host"
    done
    if ((deadline > 0 && SECONDS > deadline)); then end_ranks; fi
    read -rt 0.05 -u "$never" || true
  done
}

run() {
  local port=29400 host silence console
  if [[ ${1-} == --port && $# -ge 2 ]]; then port=$2 && shift 2; fi
  [[ $port =~ ^[1-9][0-9]{0,4}$ ]] || fail "'$port' is no port" 2
  [[ ${1-} == -- && $# -gt 1 ]] || fail "run wants a command after --; see --help" 2
  shift
  need_hosts
  export WORLD_SIZE=${#hosts[@]} LOCAL_RANK=0 LOCAL_WORLD_SIZE=1
  export MASTER_ADDR=${hosts[0]} MASTER_PORT=$port GLOO_SOCKET_IFNAME=$link
  trap 'interrupted 130' INT
  trap 'interrupted 143' TERM HUP
  # bash itself has lines to say of a child that a signal ended: to nobody.
  exec {silence}>/dev/null {console}>&2 2>/dev/null
  for host in "${!hosts[@]}"; do
    if ((host == 0)); then start_rank 0 1 "$@"; else start_rank "$host" "$silence" "$@"; fi
  done
  wait_for_ranks
  # What ranks have started and left behind would keep the readers waiting.
  signal_sessions KILL "${started[@]}"
  wait "${readers[@]}" || true
  wait_for_sessions "${started[@]}"
  exit "$verdict"
}

# -- with ----------------------------------------------------------------------------------------

# Hosts of their own name, so that those which somebody has up stay as they are. What a run that was
# killed has left behind is removed by the next one; two at once would take each other's.
with_hosts() {
  local count=${1-} options=() lock child code=0
  shift || true
  while [[ $# -gt 0 && $1 != -- ]]; do options+=("$1") && shift; done
  [[ ${1-} == -- && $# -gt 1 ]] || fail "with wants a number of hosts and a command after --; see --help" 2
  export NARROWCAST_HOSTS=${NARROWCAST_HOSTS:+$NARROWCAST_HOSTS-}with
  exec {lock}>"/run/lock/narrowcast-hosts-$NARROWCAST_HOSTS"
  flock --timeout 3600 "$lock" || fail "another 'scripts/hosts with' has run for an hour" 5
  trap '"$home/scripts/hosts" down >&2' EXIT
  "$home/scripts/hosts" up "$count" --again "${options[@]}" >&2 {lock}>&-
  "$home/scripts/hosts" run "$@" {lock}>&- &
  child=$!
  trap 'kill -s TERM "$child"' INT TERM HUP
  wait "$child" || code=$?
  # A signal ends the first wait before the child has ended.
  if kill -0 "$child" 2>/dev/null; then wait "$child" || code=$?; fi
  exit "$code"
}

# -- MPI's launchers -----------------------------------------------------------------------------

# As ssh does it: options that launchers give are accepted, the words are one line for a shell.
rsh() {
  local host
  while [[ ${1-} == -* ]]; do
    case $1 in -l | -p | -o) shift ;; esac
    shift || fail "rsh wants an address and a command" 2
  done
  (($# >= 2)) || fail "rsh wants an address and a command" 2
  need_hosts
  for host in "${!hosts[@]}"; do
    [[ ${hosts[$host]} == "${1#*@}" ]] || continue
    shift
    inside "$host"
    exec "${enter[@]}" sh -c "$*"
  done
  fail "no host has the address '$1': scripts/hosts status lists them" 2
}

# need_command NAME PACKAGE
need_command() {
  command -v "$1" >/dev/null || fail "there is no $1; on Debian it is in the package $2" 5
}

# open_mpi ADDRESSES CMD...
open_mpi() {
  local nodes=$1 options
  shift
  need_command mpirun.openmpi openmpi-bin
  options=(--allow-run-as-root -H "$nodes" --bind-to none
    --mca plm_rsh_agent "$home/scripts/hosts rsh" --mca plm_rsh_no_tree_spawn 1
    --mca oob_tcp_if_include "$link" --mca btl_tcp_if_include "$link"
    # One machine in truth: anything else would find shared memory.
    --mca pml ob1 --mca btl self,tcp)
  # Open MPI spins while it waits, and cannot see that its nodes share cores.
  if ((${#hosts[@]} > $(nproc))); then options+=(--mca mpi_yield_when_idle 1); fi
  exec "${enter[@]}" mpirun.openmpi "${options[@]}" "$@"
}

# mpich ADDRESSES CMD...
mpich() {
  local nodes=$1
  shift
  need_command mpiexec.mpich mpich
  # Hydra's launcher is one word, so "rsh" is an extra argument. UCX would find shared memory.
  export HYDRA_LAUNCHER_EXTRA_ARGS=rsh UCX_TLS=tcp,self UCX_NET_DEVICES=$link
  exec "${enter[@]}" mpiexec.mpich -launcher rsh -launcher-exec "$home/scripts/hosts" \
    -iface "$link" -hosts "$nodes" -n "${#hosts[@]}" "$@"
}

mpi_run() {
  local mpi=openmpi nodes
  if [[ ${1-} == --mpi && $# -ge 2 ]]; then mpi=$2 && shift 2; fi
  [[ ${1-} == -- && $# -gt 1 ]] || fail "mpirun wants a command after --; see --help" 2
  shift
  need_hosts
  nodes=$(IFS=, && echo "${hosts[*]}")
  inside 0
  export NARROWCAST_CORES
  case $mpi in
    openmpi) open_mpi "$nodes" "$@" ;;
    mpich) mpich "$nodes" "$@" ;;
    *) fail "no MPI is called '$mpi': openmpi or mpich" 2 ;;
  esac
}
