# How scripts/bench measures in pieces, so that a run that was interrupted goes on where it stopped.
# shellcheck shell=bash disable=SC2154,SC2034

# What a part has so far is in $figures/PART; when all of it is there, it replaces what docs/results has. Parts of which
# something is still missing are in $unfinished; those that this command has completed have a file in $marks.
unfinished=()
tools=$(dirname "${BASH_SOURCE[0]}")
# The piece that is being measured, and whether hosts are up for it: whatever ends the script, they are removed.
measuring=
hosts_up=

leave() {
  local code=$?
  if [[ $hosts_up ]]; then scripts/hosts down >/dev/null; fi
  if [[ $measuring && $code != 0 ]]; then
    echo "scripts/bench: $measuring failed with exit code $code; what is done already is kept" >&2
  fi
}
trap leave EXIT

# measured_on same|add FILE: whether its figures are of this machine; or that some are, of this commit.
measured_on() {
  this_machine=${this_machine:-$(machine)}
  "$tools/measured_on.py" "$@" <<<"$this_machine"
}

# begin_part NAME: leaves in $pieces where its pieces go. Pieces of another machine are not mixed with ours. A part that
# the same command has completed before it was interrupted stays as it is: $mark is there.
begin_part() {
  part=$1
  pieces=$figures/$1
  mark=$marks/${1//\//-}
  complete=yes
  if [[ -e $mark ]] && measured_on same "docs/results/$part/machine.json"; then
    echo "$part: complete; without $mark it is measured anew"
    return
  fi
  rm -f "$mark"
  if ! measured_on same "$pieces/machine.json"; then
    if [[ -e $pieces/machine.json ]]; then echo "$part: what was begun on another machine is measured anew"; fi
    rm -rf "$pieces"
  fi
  mkdir -p "$pieces"
}

# piece FILE CMD...: CMD makes the file in $pieces, whole or not at all, unless it is there.
piece() {
  local file=$1 start=$SECONDS
  shift
  if [[ -e $mark || -e $pieces/$file ]]; then return; fi
  if ((seconds > 0 && SECONDS >= seconds)); then complete= && return; fi
  measuring="$part: $file"
  echo "$measuring"
  "$@"
  [[ -e $pieces/$file ]] || { echo "scripts/bench: $part: $file was not made" >&2 && exit 5; }
  measured_on add "$pieces/machine.json"
  echo "$measuring took $((SECONDS - start)) s"
  measuring=
}

# printed FILE CMD...: what CMD prints is the file, if it ends well.
printed() {
  local file=$pieces/$1
  shift
  "$@" >"$file.part"
  mv "$file.part" "$file"
}

# end_part: when every piece is there, the figures go to docs/results.
end_part() {
  if [[ -e $mark ]]; then return; fi
  if [[ ! $complete ]]; then unfinished+=("$part") && return; fi
  rm -rf "docs/results/$part"
  mkdir -p "$(dirname "docs/results/$part")" "$marks"
  mv "$pieces" "docs/results/$part"
  touch "$mark"
}

# end_command: says what is left to do. When nothing is, the next time everything is measured anew.
end_command() {
  if [[ ${#unfinished[@]} == 0 ]]; then
    rm -rf "$marks"
  else
    echo "not all is measured of: ${unfinished[*]}; the same command goes on"
  fi
}

# on_hosts COUNT RATE CMD...: between hosts with links of that rate; `unlimited` is none. Where $link_check names a file,
# the rate is checked first, and the file has what was found.
on_hosts() {
  local count=$1 rate=$2 options
  shift 2
  if [[ $rate == unlimited ]]; then options=(--rate 1000gbit --no-check); else options=(--rate "$rate"); fi
  if [[ ! ${link_check-} ]]; then options+=(--no-check); fi
  hosts_up=yes
  scripts/hosts up "$count" --again "${options[@]}" >"${link_check:-/dev/null}"
  "$@"
  scripts/hosts down >/dev/null
  hosts_up=
}
