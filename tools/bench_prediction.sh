# The part of scripts/bench that checks predictions; it uses what that script defines.
# shellcheck shell=bash disable=SC2154,SC2034

compared=fp32,dynamic8,qsgd:bits=4,onebit:column=512

# predicted_row NET CODEC PREDICTED OPTION...: a step as it was predicted, beside those that the hosts take.
predicted_row() {
  local net=$1 codec=$2 predicted=$3
  shift 3
  timeout 300 scripts/hosts run -- "$program" train --net "$net" --data synthetic --no-test --batch 64 --steps "$steps" \
    "$@" --json - 2>"$figures/errors.txt" |
    tools/prediction_row.py "$name" "$net" "$codec" "$ranks" <(echo "$predicted")
}

# checked: calibrates on the hosts that are up, predicts every network and codec from that alone, then trains.
checked() {
  local net codec predicted profile=$figures/calibrated.toml plan=$figures/advised.toml
  for net in mnist-mlp lstm; do
    timeout 300 scripts/hosts run -- "$program" calibrate --batch 64 --net "$net" -o "$profile" >&2
    predicted=$("$program" predict --net "$net" --profile "$profile" --workers "$ranks" --codec "$compared" --json)
    for codec in ${compared//,/ }; do
      predicted_row "$net" "$codec" "$predicted" --codec "$codec"
    done
    # What is advised, among the same codecs.
    predicted=$("$program" advise --net "$net" --profile "$profile" --workers "$ranks" --codec "$compared" --json -o "$plan")
    predicted_row "$net" advised "$predicted" --plan "$plan"
  done
}

# check_on COUNT RATE
check_on() {
  local ranks=$1 name=$1x$2 steps=80
  if [[ $2 == 100mbit ]]; then steps=30; fi
  piece "$name.jsonl" on_hosts "$1" "$2" printed "$name.jsonl" checked
}

prediction() {
  begin_part prediction
  check_on 2 100mbit
  check_on 2 1gbit
  check_on 2 10gbit
  check_on 2 unlimited
  check_on 4 100mbit
  check_on 4 1gbit
  check_on 4 10gbit
  end_part
  if [[ $complete ]]; then
    tools/prediction_results.py docs/results/prediction docs/prediction.md docs/pictures/prediction.svg
  fi
}
