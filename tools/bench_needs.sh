# What a command of scripts/bench takes, so that it is missed before anything is measured.
# shellcheck shell=bash disable=SC2154

# needs_of WORD...: `root`, for hosts, and the data sets. Words that name nothing to measure end the script.
needs_of() {
  case "$*" in
    codecs | codecs\ * | "versus codecs" | "versus emulation") ;;
    studies) ;; # `study run` looks itself, before it begins
    collectives | prediction | "versus allreduce" | "versus ddp" | "versus prediction") echo root ;;
    "training accuracy") echo mnist ;;
    training | "training speed") echo root mnist ;;
    "versus training errors") echo mnist cifar10 ;;
    "" | versus | "versus training" | "versus training steps") echo root mnist cifar10 ;;
    *) echo "scripts/bench: there is nothing called '$*' to measure: see --help" >&2 && exit 2 ;;
  esac
}

is_root() { [[ $EUID == 0 ]]; }

# check_machine NEED...: what takes no program to find out.
check_machine() {
  local needs="$*"
  if [[ " $needs " == *" root "* ]]; then
    is_root || { echo "scripts/bench: hosts on one machine take root: run it as root" >&2 && exit 5; }
  fi
  if [[ " $needs " == *" mnist "* && ! ${NARROWCAST_DATA-} ]]; then
    echo "scripts/bench: NARROWCAST_DATA must name a folder with ${needs#root }" >&2
    exit 2
  fi
}

# check_data NEED...: the program reads each data set, and says what is wrong with it.
check_data() {
  local need
  for need in "$@"; do
    if [[ $need != root ]]; then "$program" data info "$need" >/dev/null; fi
  done
}
