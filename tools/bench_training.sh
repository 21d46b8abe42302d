# The part of scripts/bench that trains; it uses what that script defines.
# shellcheck shell=bash disable=SC2154,SC2034

runs=docs/results/training

# accuracy NAME OPTION...: one run of D16's network, kept as its config, epochs and summary. A run that
# is there is not made again.
accuracy() {
  local name=$1
  shift
  if [[ -e $runs/$name.jsonl ]]; then return; fi
  if [[ -e $runs/machine.json ]] && ! measured_on same "$runs/machine.json"; then
    echo "scripts/bench: $runs has runs of another machine; remove it, and all of them are made anew" >&2
    exit 5
  fi
  echo "accuracy: $name"
  "$program" train --net mnist-mlp --data mnist --epochs 10 --workers 2 --json "$figures/training/$name.jsonl" "$@" \
    >"$figures/training/$name.txt"
  grep -v '"event":"step"' "$figures/training/$name.jsonl" |
    sed -E 's/data_folder = ..[^"]*..n/data_folder = \\"\\"\\n/' >"$figures/training/$name.part"
  mv "$figures/training/$name.part" "$runs/$name.jsonl"
  measured_on add "$runs/machine.json"
}

accuracies() {
  local seed parallel codec format
  for seed in 1 2 3; do
    for parallel in data model; do
      for codec in fp32 dynamic8 linear8; do
        accuracy "$parallel-$codec-$seed" --parallel "$parallel" --codec "$codec" --seed "$seed"
      done
    done
  done
  accuracy data-qsgd4-1 --codec qsgd:bits=4
  accuracy data-onebit-1 --codec onebit --set feedback=true
  accuracy data-onebit-plain-1 --codec onebit --set feedback=false
  for format in 4,3 3,0; do
    codec=float:e=${format%,*},m=${format#*,}
    accuracy "data-float${format/,/}-1" --codec "$codec"
    accuracy "data-float${format/,/}-aps-1" --codec "$codec" --set scaling=aps
  done
}

# timed NAME COMMAND...: the median step of a run without tests, as a line of JSON.
timed() {
  local name=$1
  shift
  timeout 300 "$@" train --net mnist-mlp --data mnist --no-test --steps "$count" --json - "${options[@]}" 2>"$figures/errors.txt" |
    tools/median_step.py "$name"
}

# How many steps; the first 20 do not count. A step in fp32 takes more than half a second at 100 Mbit/s.
speed_steps() {
  if [[ $1 == 100mbit ]]; then echo 50; else echo 200; fi
}

# speed_at RATE CODEC...: three times, in turns, steps of two ranks that do not talk, and of two that do.
speed_at() {
  local rate=$1 turn codec options count
  shift
  count=$(speed_steps "$rate")
  for turn in 1 2 3; do
    options=(--workers 1)
    timed "$rate alone" scripts/hosts run -- env -u RANK -u WORLD_SIZE -u MASTER_ADDR "$program"
    for codec in "$@"; do
      options=(--codec "$codec")
      timed "$rate $codec" scripts/hosts run -- "$program"
    done
  done
}

plain() {
  local turn options=(--workers 1) count=200
  cmake --preset dev >&2
  cmake --build --preset dev --target example_libtorch_plain >&2
  for turn in 1 2 3; do
    echo "{\"name\":\"plain libtorch\",\"step_ms\":$(taskset -c 0 build/dev/examples/example_libtorch_plain 400)}"
    timed "plain ours" taskset -c 0 "$program"
  done
}

speed() {
  local rate
  begin_part speed
  piece plain.jsonl printed plain.jsonl plain
  for rate in 100mbit 1gbit 10gbit unlimited; do
    piece "$rate.jsonl" on_hosts 2 "$rate" printed "$rate.jsonl" speed_at "$rate" "${own_codecs[@]}"
  done
  end_part
}

training() {
  if [[ ${1-} != speed ]]; then
    mkdir -p "$figures/training" "$runs"
    accuracies
  fi
  if [[ ${1-} != accuracy ]]; then speed; fi
}
