# The part of scripts/bench that sums over ranks; it uses what that script defines.
# shellcheck shell=bash disable=SC2154,SC2034

narrow=(--codec dynamic8 --codec qsgd:bits=4 --codec onebit:column=512)

# how_often RATE: a slow link repeats itself; a second for each sum is much.
how_often() {
  if [[ $1 == 100mbit ]]; then echo "-n 5 -w 1"; else echo "-n 20 -w 5"; fi
}

# summed RATE CMD...: `narrowcast bench allreduce` on the hosts that are up, with what CMD puts before it.
summed() {
  local repetitions rate=$1
  shift
  read -ra repetitions < <(how_often "$rate")
  timeout 300 "$@" "$program" bench allreduce -b 26000000 -e 26000000 "${repetitions[@]}" --json "${codecs_asked[@]}"
}

open_mpi_summed() {
  if command -v mpirun.openmpi >/dev/null; then
    summed "$1" scripts/hosts mpirun --
  else
    echo '{"codec":"engine","missing":"Open MPI is not installed"}'
  fi
}

torch_summed() {
  local repetitions
  read -ra repetitions < <(how_often "$1")
  timeout 300 scripts/hosts run -- "$environment/bin/python" bench/versus/allreduce.py "${repetitions[@]}"
}

# between HOSTS RATE: the codecs and Gloo's own all-reduce in one run, then Open MPI's and torch's own.
between() {
  local hosts=$1 rate=$2 name=$1x$2 codecs_asked link_check=$pieces/$1x$2.txt
  codecs_asked=(--codec engine "${narrow[@]}")
  if [[ $rate == unlimited ]]; then codecs_asked+=(--codec fp32); fi
  piece "$name.jsonl" on_hosts "$hosts" "$rate" printed "$name.jsonl" summed "$rate" scripts/hosts run --
  if [[ $hosts != 2 ]]; then return; fi
  codecs_asked=(--codec engine)
  link_check=
  piece "$name.openmpi.jsonl" on_hosts 2 "$rate" printed "$name.openmpi.jsonl" open_mpi_summed "$rate"
  piece "$name.torch.jsonl" on_hosts 2 "$rate" printed "$name.torch.jsonl" torch_summed "$rate"
}

# All-reduce of 6.5 M floats.
collectives() {
  need_peers
  begin_part collectives
  between 2 100mbit
  between 2 1gbit
  between 2 10gbit
  between 2 unlimited
  between 4 1gbit
  local codecs_asked=(--codec fp32 "${narrow[@]}" --workers 2)
  piece shm.jsonl printed shm.jsonl summed shm
  codecs_asked=(--codec engine --workers 2 --transport gloo)
  piece loopback.jsonl printed loopback.jsonl summed loopback
  end_part
}
