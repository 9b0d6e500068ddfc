# shellcheck shell=bash disable=SC2034
# Sourced by the scripts of this folder: where things are, and how they stop.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -1)
target_dir=${CARGO_TARGET_DIR:-$root/target}
# Where finished packages go.
packages=${PACKAGES_FOLDER:-$target_dir/packages}
targets="x86_64-unknown-linux-musl aarch64-unknown-linux-musl x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
x86_64-apple-darwin aarch64-apple-darwin x86_64-pc-windows-msvc"

die() {
    echo "error: $*" >&2
    exit 1
}

# Stops unless the argument is one of the targets.
check_target() {
    [[ " ${targets//$'\n'/ } " == *" $1 "* ]] || die "no such target: $1 (one of ${targets//$'\n'/ })"
}

# Prints the SHA-256 of a file as hexadecimal digits.
sha256_of() {
    if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# Prints where cargo puts the program for a target.
program_of() {
    local end=""
    [[ $1 == *windows* ]] && end=.exe
    echo "$target_dir/$1/release/slop$end"
}

# What packages contain: without the languages whose grammars would make the program larger than 40 MB.
features=(--no-default-features --features languages-common,share-redis,share-s3)
# The oldest glibc that programs for gnu run with: that of manylinux_2_28 (RHEL 8, Debian 10, Ubuntu 18.10).
glibc=2.28
