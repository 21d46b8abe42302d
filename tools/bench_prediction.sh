# The part of scripts/bench that checks predictions; it uses what that script defines.
# shellcheck shell=bash disable=SC2154

checks=docs/results/prediction
compared=fp32,dynamic8,qsgd:bits=4,onebit:column=512

# checked NAME COMMAND...: calibrates with the command before the program, predicts every network and codec
# from that alone, then trains. A setting that is there is not measured again.
checked() {
  local name=$1 net codec predicted steps batch=64
  shift
  if [[ -e $checks/$name.jsonl ]]; then return; fi
  echo "prediction: $name"
  local profile=$figures/prediction/$name.toml found=$figures/prediction/$name.part
  : >"$found"
  for net in mnist-mlp lstm; do
    steps=80
    if [[ $name == *100mbit ]]; then steps=30; fi
    "$@" "$program" calibrate --batch "$batch" --net "$net" -o "$profile"
    predicted=$("$program" predict --net "$net" --profile "$profile" --workers "$ranks" --codec "$compared" --json)
    for codec in ${compared//,/ }; do
      "$@" "$program" train --net "$net" --data synthetic --no-test --batch "$batch" --steps "$steps" \
        --codec "$codec" --json - 2>"$figures/prediction/errors.txt" |
        tools/prediction_row.py "$name" "$net" "$codec" "$ranks" <(echo "$predicted") >>"$found"
    done
    # What is advised, among the same codecs.
    predicted=$("$program" advise --net "$net" --profile "$profile" --workers "$ranks" --codec "$compared" --json \
      -o "$figures/prediction/plan.toml")
    "$@" "$program" train --net "$net" --data synthetic --no-test --batch "$batch" --steps "$steps" \
      --plan "$figures/prediction/plan.toml" --json - 2>"$figures/prediction/errors.txt" |
      tools/prediction_row.py "$name" "$net" advised "$ranks" <(echo "$predicted") >>"$found"
  done
  mv "$found" "$checks/$name.jsonl"
}

# on_hosts COUNT RATE
on_hosts() {
  local ranks=$1
  if [[ -e $checks/$1x$2.jsonl ]]; then return; fi
  scripts/hosts up "$1" --rate "$2" --no-check >/dev/null
  trap 'scripts/hosts down >/dev/null' EXIT
  checked "$1x$2" scripts/hosts run --
  scripts/hosts down >/dev/null
  trap - EXIT
}

prediction() {
  mkdir -p "$figures/prediction" "$checks"
  on_hosts 2 100mbit
  on_hosts 2 1gbit
  on_hosts 2 10gbit
  on_hosts 2 99gbit
  on_hosts 4 100mbit
  on_hosts 4 1gbit
  on_hosts 4 10gbit
  machine >"$checks/machine.json"
  tools/prediction_results.py "$checks" docs/prediction.md docs/pictures/prediction.svg
}
