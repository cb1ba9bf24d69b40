# shellcheck shell=bash disable=SC2034
# What a bare Debian 12 lacks, for quickstart and check: sourced by both, so that there is one list.

# The compiler, the library's own dependencies, and the samples' option parser.
build_packages=(
  g++ cmake ninja-build
  libasmjit-dev libfmt-dev zlib1g-dev nlohmann-json3-dev libcli11-dev
)
# Only the tests and benchmarks need these.
test_packages=(
  libgtest-dev librapidcheck-dev libbenchmark-dev libxxhash-dev libmpfr-dev python3
  pybind11-dev python3-dev doxygen
)

# Tier 2 wants a development package of LLVM and libzstd-dev; newest first, and none is an error.
llvm_versions=(22 21 20 19 16 15)

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null) == installed ]]
}

# install_llvm: the newest LLVM there is, unless a usable one is installed. Groove works without it,
# one tier lower, so what goes wrong here is said and passed over.
install_llvm() {
  command -v dpkg-query > /dev/null || return 0
  local version policy
  for version in "${llvm_versions[@]}"; do
    if is_installed "llvm-$version-dev"; then
      (install_missing libzstd-dev) || true
      return 0
    fi
  done
  for version in "${llvm_versions[@]}"; do
    # Not through a pipe: with pipefail, a reader that stops early makes it fail.
    policy=$(apt-cache policy "llvm-$version-dev" 2> /dev/null) || continue
    if [[ $policy =~ Candidate:\ [^\(] ]]; then
      (install_missing "llvm-$version-dev" libzstd-dev) ||
        echo "LLVM could not be installed; Groove is built without its second tier" >&2
      return 0
    fi
  done
  echo "this system offers no LLVM of 15 or newer; Groove is built without its second tier" >&2
}

# install_missing <package>…: asks dpkg first, so that a machine that has all is done at once.
install_missing() {
  if ! command -v dpkg-query > /dev/null; then
    echo "not a Debian system: needed are the equivalents of: $*" >&2
    return
  fi
  local package missing=()
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
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
