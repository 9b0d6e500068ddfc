#!/usr/bin/env bash
# Usage: packaging/tools.sh [MACHINE…]
# Installs, on Debian or Ubuntu, what the scripts of this folder need to build for Linux on those machines (x86_64 and
# aarch64), at the versions that were tried.
source "$(dirname "$0")/common.sh"

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
