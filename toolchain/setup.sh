#!/usr/bin/env bash
# Gets a checkout ready: Debian packages, the Python environment .venv with wheels pinned by
# digest, and the checkout itself as the command .venv/bin/fatcrate.
#
#   toolchain/setup.sh run    what building and ./demo need
#   toolchain/setup.sh dev    the same and what ./check needs
#
# Silent and quick when everything is there; never touches the network then.
set -euo pipefail

level=${1:-run}
case $level in
run | dev) ;;
*)
  echo "usage: toolchain/setup.sh run|dev" >&2
  exit 2
  ;;
esac
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
locks=$root/toolchain/setup
venv=$root/.venv

say() { echo "setup: $*" >&2; }
die() {
  echo "setup: error: $1" >&2
  exit 3
}

# --- Debian packages -------------------------------------------------------------------
# NAME or NAME=OLDEST. Debian 12 brings the rustc-web of OLDEST through its security archive.
packages=(rustc-web=1.96 rust-web-src=1.96 cargo-web=1.96 bazel-bootstrap gcc g++)
if [[ $level == dev ]]; then
  packages+=(rustfmt-web=1.96 rust-web-clippy=1.96 clang-22 clang-tools-22 lld-22 llvm-22
    qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross bubblewrap zsh fish)
  command -v npm >/dev/null || packages+=(npm)
fi

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

install_packages() {
  local needed=("$@")
  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    die "run as root: apt-get install ${needed[*]}"
  fi
  say "installing Debian packages: ${needed[*]}"
  as_root apt-get update >"$log" 2>&1 ||
    say "the package lists could not be refreshed: $(tail -n 1 "$log")"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    -o Dpkg::Use-Pty=0 "${needed[@]}" >"$log" 2>&1 ||
    die "apt-get install failed: $(tail -n 5 "$log")"
}

# Prints those of the packages (NAME or NAME=OLDEST) that are not installed or too old.
missing_packages() {
  local item name version
  declare -A installed
  while read -r name version; do installed[$name]=$version; done < <(
    dpkg-query -W -f='${Package} ${db:Status-Status} ${Version}\n' "${@%%=*}" 2>/dev/null |
      sed -n 's/ installed / /p'
  )
  for item in "$@"; do
    name=${item%%=*}
    version=${installed[$name]:-}
    if [[ -z $version ]]; then
      echo "$name"
    elif [[ $item == *=* ]] && dpkg --compare-versions "$version" lt "${item#*=}"; then
      echo "$name"
    fi
  done
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

if command -v apt-get >/dev/null; then
  mapfile -t missing < <(missing_packages "${packages[@]}")
  if ((${#missing[@]})); then
    install_packages "${missing[@]}"
    mapfile -t missing < <(missing_packages "${packages[@]}")
    if ((${#missing[@]})); then
      die "Debian has too old a version of: ${missing[*]}; enable its security archive"
    fi
  fi
fi

# --- the Python environment ------------------------------------------------------------
registry=$root/examples/registry
stamp() {
  {
    cat "$locks/run.txt" "$root/pyproject.toml" "$root/toolchain/setup.sh" "$registry/Cargo.lock"
    echo "$root"
    if [[ $1 == dev ]]; then cat "$locks/dev.txt" "$locks/package-lock.json"; fi
  } | sha256sum | cut -d' ' -f1
}
# Whether each package of the lock file has its folder.
is_vendored() {
  [[ -d $registry/vendor && $(ls "$registry/vendor" | wc -l) == $(grep -c '^source = ' "$registry/Cargo.lock") ]]
}
is_ready() {
  [[ -x $venv/bin/fatcrate ]] && is_vendored && [[ $(cat "$venv/.setup-$level" 2>/dev/null) == $(stamp "$level") ]]
}
if is_ready; then exit 0; fi

# One setup at a time in a checkout.
mkdir -p "$root/.cache"
exec 9>"$root/.cache/setup.lock"
if ! flock -n 9; then
  say "waiting for another setup of this checkout"
  flock 9
fi
if is_ready; then exit 0; fi

usable_python() {
  local candidate
  for candidate in python3 python3.13 python3.12 python3.11 /usr/bin/python3; do
    if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
      >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
}

if ! "$venv/bin/python" -c 'import pip' >/dev/null 2>&1 ||
  [[ $(cat "$venv/.setup-root" 2>/dev/null || echo "$root") != "$root" ]]; then
  python=$(usable_python)
  if [[ -z $python ]]; then
    command -v apt-get >/dev/null || die "Python 3.11 or newer with venv is needed"
    install_packages python3 python3-venv
    python=$(usable_python)
    [[ -n $python ]] || die "Python 3.11 or newer with venv is needed"
  fi
  say "making .venv with $("$python" --version)"
  "$python" -m venv --clear "$venv"
fi
echo "$root" >"$venv/.setup-root"

pip_install() {
  "$venv/bin/python" -m pip install --disable-pip-version-check --no-input \
    --root-user-action=ignore "$@" 2>&1 | tee "$log" |
    sed -un 's/^Collecting \([^ =]*\)[ =].*/setup:   \1/p' >&2
  [[ ${PIPESTATUS[0]} == 0 ]] || die "pip install failed: $(grep -v '^ ' "$log" | tail -n 5)"
}

requirements=(-r "$locks/run.txt")
if [[ $level == dev ]]; then requirements+=(-r "$locks/dev.txt"); fi
say "installing Python packages (about 300 MB at first)"
pip_install --require-hashes --only-binary :all: "${requirements[@]}"
pip_install --no-deps --no-build-isolation --editable "$root"

# --- linters from npm ------------------------------------------------------------------
if [[ $level == dev ]]; then
  say "installing buildifier"
  mkdir -p "$venv/npm"
  cp "$locks/package.json" "$locks/package-lock.json" "$venv/npm/"
  (cd "$venv/npm" && npm ci --ignore-scripts --no-audit --no-fund) >"$log" 2>&1 ||
    die "npm ci failed: $(tail -n 5 "$log")"
fi

# --- crates of examples/registry, as published; cargo checks them against Cargo.lock -----
fetched=$root/.cache/registry.lock
if ! is_vendored || ! cmp -s "$registry/Cargo.lock" "$fetched"; then
  say "fetching the crates of examples/registry"
  rm -rf "$registry/vendor"
  # With its own rustc: a rustup without a default toolchain may come first on PATH.
  RUSTC=/usr/bin/rustc RUST_BACKTRACE=0 /usr/bin/cargo vendor --locked --quiet --versioned-dirs \
    --manifest-path "$registry/Cargo.toml" "$registry/vendor" >"$log" 2>&1 ||
    die "cargo vendor failed: $(grep -m 1 -A 4 '^error' "$log" || tail -n 5 "$log")"
  cp "$registry/Cargo.lock" "$fetched"
fi

stamp run >"$venv/.setup-run"
if [[ $level == dev ]]; then stamp dev >"$venv/.setup-dev"; fi
say "done: .venv/bin/fatcrate"
