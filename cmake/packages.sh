# shellcheck shell=bash disable=SC2034
# What a bare Debian 12 lacks, for quickstart and check: sourced by both, so that there is one list.

# The compiler, the library's own dependencies, and the samples' option parser.
build_packages=(
  g++ cmake ninja-build
  libasmjit-dev libfmt-dev zlib1g-dev nlohmann-json3-dev libcli11-dev
)
# Only the tests and benchmarks need these.
test_packages=(
  libgtest-dev librapidcheck-dev libbenchmark-dev libxxhash-dev libmpfr-dev
)

# install_missing <package>…: asks dpkg first, so that a machine that has all is done at once.
install_missing() {
  if ! command -v dpkg-query > /dev/null; then
    echo "not a Debian system: needed are the equivalents of: $*" >&2
    return
  fi
  local package missing=()
  for package in "$@"; do
    if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) != installed ]]; then
      missing+=("$package")
    fi
  done
  ((${#missing[@]})) || return 0

  local as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo > /dev/null; then
      echo "please run as root: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq install -y --no-install-recommends "${missing[@]}" > /dev/null
}
