#!/usr/bin/env bash
# Usage: packaging/wheel.sh [TARGET]
# Builds the wheel that pyproject.toml describes and, for the first Linux target, the source distribution. Prints their
# paths. It needs maturin (pip install maturin), and for Linux ziglang.
source "$(dirname "$0")/common.sh"

target=${1:-$(uname -m)-unknown-linux-gnu}
command -v maturin >/dev/null || die "maturin is not installed (pip install maturin)"
program=$("$root/packaging/build.sh" "$target")
pages=$root/packaging/python/data/data/share/man/man1
mkdir -p "$pages" "$packages"
cp "$(dirname "$program")/package-files/man/slop.1" "$pages/"
cd "$root"

options=(--release --locked "${features[@]}" --target "$target" --compression-level 9 --out "$packages")
[[ $target == *-linux-gnu ]] && options+=(--zig --compatibility "manylinux_${glibc/./_}")
maturin build "${options[@]}" >&2
if [[ $target == x86_64-unknown-linux-gnu ]]; then
    maturin sdist --out "$packages" >&2
fi
ls "$packages"/slop_context-"$version"*
