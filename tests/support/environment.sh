# Sourced by the scripts that test or measure with packages of PyPI.
# shellcheck shell=bash

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Where install_package leaves our Python package.
site=$tree/build/python/site

# make_environment NAME REQUIREMENTS: leaves in $environment the path of a virtual environment that
# has them. It is made once, in the user's cache, named by a hash of the pinned requirements; under
# another name until it is complete, so that an interrupted installation is never taken for a good one.
make_environment() {
  local name=$1 requirements=$2 hash cache unfinished
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/narrowcast
  hash=$({ python3 --version && cat "$requirements"; } | sha256sum | cut -c1-16)
  environment=$cache/$name-$hash
  [[ -d $environment ]] && return
  echo "$name: installing $(basename "$requirements") into $environment (once)" >&2
  mkdir -p "$cache"
  unfinished=$(mktemp -d "$environment.unfinished.XXXXXX")
  # Expanded now: the variable is gone when the trap runs.
  # shellcheck disable=SC2064
  trap "rm -rf '$unfinished'" EXIT
  python3 -m venv "$unfinished"
  "$unfinished/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements"
  # Someone else may have been faster; theirs is as good as ours.
  mv -T "$unfinished" "$environment" 2>/dev/null || [[ -d $environment ]]
  rm -rf "$unfinished"
  trap - EXIT
}

# `pip install .` of this tree without its isolation, so that only what has changed is compiled again. The
# package lies beside the environments, which other working trees use too.
install_package() {
  make_environment python-light "$tree/tests/python/requirements.txt"
  mkdir -p "$tree/build/python"
  rm -rf "$site"
  if ! "$environment/bin/python" -m pip install --disable-pip-version-check --no-deps --verbose \
    --no-build-isolation --no-cache-dir --config-settings=build-dir="$tree/build/python/cmake" \
    --target "$site" "$tree" >"$tree/build/python/build.log" 2>&1; then
    tail -n 60 "$tree/build/python/build.log" >&2
    return 1
  fi
}
