#!/bin/sh
# Does what the tests of the daemon do as often as a night has room for: tests/torture.sh [-p PART] [-l] [FILTER...]
#
#   -p PART   does a PARTth of it (`-p 100` takes minutes)
#   -l        lists the tests and runs none
#   FILTER    runs the tests whose names have this in them; without one, all of `daemon::`
#
# A million questions of four writers, a thousand kills, a hundred starters, a hundred thousand files: docs/reliability.md
# says what each test does and how often. Needs python3, strace, unshare and git; without one of them the tests that need
# it say SKIPPED. Tests run one after the other, so that each has the machine, in a release build.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
part=1
while getopts p:l option; do
    case $option in
        p) part=$OPTARG ;;
        l) exec cargo test --quiet --manifest-path "$root/Cargo.toml" --test it -- --list daemon:: ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- daemon::
export SLOP_TORTURE="$part"
# Where a test fails for what it saw, not for what it waited for, the time is worth as much as the failure.
exec cargo test --release --manifest-path "$root/Cargo.toml" --test it -- --test-threads 1 "$@"
