#!/usr/bin/env bash
# Usage: packaging/build.sh TARGET
# Compiles slop for a target, writes completions and man page into `package-files` next to it, and prints its path.
# For Linux it needs `cargo zigbuild` (pip install cargo-zigbuild ziglang), or musl-gcc for this machine's musl target.
# TARGET_RUNNER runs programs of another processor (qemu-aarch64-static).
source "$(dirname "$0")/common.sh"

[[ $# == 1 ]] || die "usage: packaging/build.sh TARGET"
target=$1
check_target "$target"
cd "$root"

machine=$(uname -m)
case $target in
    *linux*)
        if command -v cargo-zigbuild >/dev/null; then
            built=$target
            [[ $target == *-gnu ]] && built=$target.$glibc
            cargo zigbuild --release --locked --bin slop "${features[@]}" --target "$built" >&2
        elif [[ $target == "$machine"-*-musl ]] && command -v musl-gcc >/dev/null; then
            cargo build --release --locked --bin slop "${features[@]}" --target "$target" >&2
        else
            die "cargo zigbuild is not installed, which compiles for $target (pip install cargo-zigbuild ziglang)"
        fi
        ;;
    *) cargo build --release --locked --bin slop "${features[@]}" --target "$target" >&2 ;;
esac

program=$(program_of "$target")
run=()
if [[ -n ${TARGET_RUNNER:-} ]]; then
    run=("$TARGET_RUNNER")
elif [[ $target == aarch64-*-linux-* && $machine != aarch64 ]]; then
    command -v qemu-aarch64-static >/dev/null || die "qemu-aarch64-static is not installed, which runs programs for $target"
    run=(qemu-aarch64-static)
fi
files=$(dirname "$program")/package-files
rm -rf "$files"
mkdir -p "$files/complete" "$files/man" "$files/systemd"
write() { "${run[@]}" "$program" "${@:2}" >"$files/$1" || die "$program does not run on this machine"; }
write complete/slop.bash completions bash
write complete/_slop completions zsh
write complete/slop.fish completions fish
write complete/_slop.ps1 completions powershell
write man/slop.1 man
cp systemd/slop@.service "$files/systemd/"
echo "$program"
