# The part of scripts/bench that has its own programs for peers; it uses what that script defines.
# shellcheck shell=bash disable=SC2154,SC2034

# shellcheck source=tests/support/environment.sh
source tests/support/environment.sh

# need_peers: leaves in $environment a Python with the peers of bench/versus/requirements.txt and our package.
need_peers() {
  install_package
  make_environment versus bench/versus/requirements.txt
  export PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1
  # qtorch compiles with the ninja of its environment.
  PATH=$environment/bin:$PATH
  # An environment that was made just now has taken the trap for itself.
  trap leave EXIT
}

versus_codecs() {
  need_peers
  begin_part versus/codecs
  piece codecs.json timeout 600 python bench/versus/codecs.py --json "$pieces/codecs.json"
  end_part
}

# Steps of DistributedDataParallel, on each link with all ways in turns.
versus_ddp() {
  local rate
  need_peers
  begin_part versus/ddp
  for rate in 100mbit 1gbit 10gbit unlimited; do
    piece "$rate.json" timeout 900 python bench/versus/ddp.py --rates "$rate" --json "$pieces/$rate.json"
  done
  end_part
}

versus_emulation() {
  need_peers
  begin_part versus/emulation
  piece emulation.json timeout 900 python bench/versus/cpd.py --json "$pieces/emulation.json"
  end_part
}

own_codecs=(fp32 dynamic8 qsgd:bits=4 onebit:column=512)

# told NAME WHAT NET WAY OPTION...: a piece of bench/versus/training.py, which keeps deadlines itself and says what failed.
told() {
  local name=$1
  shift
  piece "$name.json" python bench/versus/training.py "$@" --json "$pieces/$name.json"
}

# Enough to tell ways apart.
steps_of() {
  if [[ $1 == cifar-conv ]]; then echo 24; else echo 60; fi
}

versus_steps() {
  local net=$1 rate=$2 count codec
  count=$(steps_of "$net")
  told "$net.$rate.hooks" steps "$net" hooks --rate "$rate" --steps "$count" --deadline 400
  told "$net.$rate.powersgd" steps "$net" "PowerSGD hook" --rate "$rate" --steps "$count" --deadline 60
  told "$net.$rate.powersgd-one" steps "$net" "PowerSGD hook, one bucket" --rate "$rate" --steps "$count" --deadline 120
  for codec in "no communication" "${own_codecs[@]}"; do
    told "$net.$rate.train-${codec//[: ]/-}" steps "$net" "train $codec" --rate "$rate" --steps "$count" --deadline 200
  done
}

versus_errors() {
  local net=$1 epochs=$2 way
  for way in fp32 "fp16 hook" "bf16 hook" "PowerSGD hook, one bucket" dynamic8 qsgd:bits=4; do
    told "$net.errors.${way//[:, ]/-}" errors "$net" "$way" --epochs "$epochs" --deadline 900
  done
  for way in "${own_codecs[@]}"; do
    told "$net.errors.train-${way//:/-}" errors "$net" "train $way" --epochs "$epochs" --deadline 900
  done
}

versus_training() {
  need_peers
  begin_part versus/training
  if [[ ${1-} != errors ]]; then
    versus_steps mnist-mlp 1gbit
    versus_steps cifar-conv 1gbit
  fi
  if [[ ${1-} != steps ]]; then
    versus_errors mnist-mlp 4
    versus_errors cifar-conv 2
  fi
  if [[ ${1-} ]]; then complete=; fi
  end_part
}

# Every part, or the one that is named. Parts that are not complete yet stay out of docs/results.
versus() {
  local each
  case ${1-} in
    codecs) versus_codecs ;;
    emulation) versus_emulation ;;
    ddp) versus_ddp ;;
    allreduce) collectives ;;
    training) versus_training "${2-}" ;;
    prediction) prediction ;;
    *) for each in codecs emulation allreduce ddp training prediction; do versus "$each"; done ;;
  esac
}
