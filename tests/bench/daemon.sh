#!/usr/bin/env bash
# Measures what a client of `slop watch` waits for, over its real socket, and what the daemon takes meanwhile.
#
#   tests/bench/daemon.sh TREE               TREE: a git checkout, of which a copy is measured
#   PARTS=latency tests/bench/daemon.sh …    one part alone, of `documents`, `tree` and `latency`
#   ROUNDS=9 IDLE_SECONDS=10 LOAD_SECONDS=5  how often, and how long
#   WORK=DIR                                 where copies are made, and kept for the next run; else a folder of its own
#
# `documents` asks for TREE's document of tier 3. `tree` and `latency` take a repository of 100,000 small files in 5,000
# folders with two branches that have no file in common. What a figure is to be stands behind it.
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
