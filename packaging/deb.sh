#!/usr/bin/env bash
# Usage: packaging/deb.sh [TARGET]
# Builds the Debian package that `[package.metadata.deb]` in Cargo.toml describes, and prints its path.
source "$(dirname "$0")/common.sh"

target=${1:-$(uname -m)-unknown-linux-gnu}
command -v cargo-deb >/dev/null || die "cargo deb is not installed (cargo install --locked cargo-deb)"
program=$("$root/packaging/build.sh" "$target")
# What Debian wants compressed, and a changelog in its own format.
files=$(dirname "$program")/debian-files
mkdir -p "$packages" "$files"
gzip -9nc "$(dirname "$program")/package-files/man/slop.1" >"$files/slop.1.gz"
cd "$root"
maintainer=$(sed -n 's/^maintainer = "\(.*\)"$/\1/p' Cargo.toml)
{
    printf 'slop-context (%s-1) unstable; urgency=medium\n\n  * Version %s; CHANGELOG.md lists what has changed.\n\n' \
        "$version" "$version"
    printf ' -- %s  %s\n' "$maintainer" "$(LC_ALL=C date --utc --date="@${SOURCE_DATE_EPOCH:-0}" --rfc-email)"
} | gzip -9nc >"$files/changelog.Debian.gz"
cargo deb --no-build --no-strip --target "$target" --output "$packages/" | tail -1
