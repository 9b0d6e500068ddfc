#!/usr/bin/env bash
# Usage: packaging/deb.sh [TARGET]
# Builds the Debian package that `[package.metadata.deb]` in Cargo.toml describes, and prints its path.
source "$(dirname "$0")/common.sh"

target=${1:-$(uname -m)-unknown-linux-gnu}
command -v cargo-deb >/dev/null || die "cargo deb is not installed (cargo install --locked cargo-deb)"
"$root/packaging/build.sh" "$target" >/dev/null
mkdir -p "$packages"
cd "$root"
cargo deb --no-build --no-strip --target "$target" --output "$packages/" | tail -1
