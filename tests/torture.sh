#!/bin/sh
# Repeats the daemon's tests as often as fit in a night: tests/torture.sh [-p PART] [-l] [FILTER...]
#
#   -p PART   divides the repetitions by PART (`-p 100` takes minutes)
#   -l        lists the tests without running them
#   FILTER    runs the tests whose names contain this; default: all of `daemon::`
#
# A million queries of four writers, a thousand kills, a hundred starts, a hundred thousand files: docs/reliability.md
# lists what each test does and how often. Needs python3, strace, unshare and git; tests that miss one of them print
# SKIPPED. Tests run one after the other, each with the machine to itself, in a release build.
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
# The time helps to distinguish a wrong answer from a timeout.
exec cargo test --release --manifest-path "$root/Cargo.toml" --test it -- --test-threads 1 "$@"
