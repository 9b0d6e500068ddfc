#!/usr/bin/env bash
# Measures how long a client of `slop watch` waits, over its real socket, and what resources the daemon uses.
#
#   tests/bench/daemon.sh TREE               TREE: a git checkout; a copy of it is measured
#   PARTS=latency tests/bench/daemon.sh …    only some of the parts `documents`, `tree` and `latency`
#   ROUNDS=9 IDLE_SECONDS=10 LOAD_SECONDS=5  repetitions and durations
#   WORK=DIR                                 a folder for copies, kept for the next run; default: a temporary folder
#
# `documents` requests TREE's document for tier 3. `tree` and `latency` use a repository of 100,000 small files in 5,000
# folders with two branches that have no file in common. Each figure is printed with its target.
set -euo pipefail

house=$(cd "$(dirname "$0")/../.." && pwd)
tree=$(cd "${1:?which tree?}" && pwd)
work=${WORK:-}
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
export SLOP_CONFIG=/dev/null

build=(cargo build --quiet --release --locked --manifest-path "$house/Cargo.toml" --bin slop)
"${build[@]}"
slop=$("${build[@]}" --message-format=json | sed -n 's/.*"executable":"\([^"]*\/slop\)".*/\1/p')

mkdir -p "$work/many"
if [ ! -e "$work/copy" ]; then
    cp -a "$tree" "$work/copy"
    rm -rf "$work/copy/.slop_cache"
fi
for part in ${PARTS:-documents tree latency}; do
    echo "== $part"
    case $part in documents) on=$work/copy ;; *) on=$work/many ;; esac
    python3 "$house/tests/bench/daemon.py" "$slop" "$part" "$on" "$work"
done
