#!/usr/bin/env bash
# Measures slop on a tree, in comparison with similar programs.
#
#   tests/bench/run.sh [TREE]        TREE: a folder, preferably a git checkout; default: this repository
#   ROUNDS=9 tests/bench/run.sh …    medians of nine rounds instead of five
#
# `bare` (tests/bench/bare.rs) walks, reads, hashes and parses the same files and stores nothing: the lower bound for a
# cold `slop index`. `git status` is the lower bound for a warm one. The programs take turns within each round, so that
# other load on the machine affects all of them. The benchmark writes only its own cache into the tree, which is deleted
# before each cold run and at the end; an existing cache is not touched.
set -euo pipefail

house=$(cd "$(dirname "$0")/../.." && pwd)
tree=$(cd "${1:-$house}" && pwd)
rounds=${ROUNDS:-5}
export SLOP_AGGREGATION_CACHE_DIR=.slop_bench_cache
export SLOP_CONFIG=/dev/null
cache=$tree/$SLOP_AGGREGATION_CACHE_DIR

# The target folder is configurable, so cargo reports where the programs are.
build=(cargo build --quiet --release --locked --manifest-path "$house/Cargo.toml" --bin slop --example bare)
"${build[@]}"
programs=$("${build[@]}" --message-format=json | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')
# The tree is passed explicitly, because a cache in a parent folder would make that folder the project.
slop=($(grep '/slop$' <<<"$programs") --project "$tree")
bare=$(grep '/bare$' <<<"$programs")

notes=$(mktemp -d)
trap 'rm -rf "$notes" "$cache"' EXIT

has() { command -v "$1" >"$notes/which" || { echo "skipped: $1 is not on PATH" >&2; return 1; }; }

with_memory=false
if [ -x /usr/bin/time ] && /usr/bin/time -f %M -o "$notes/memory" true 2>"$notes/err"; then
    with_memory=true
else
    echo "skipped: peak memory (GNU time is not installed)" >&2
fi

# prepare NAME: sets up the state for a run.
prepare() { case $1 in *", cold") rm -rf "$cache" ;; esac; }

# measure NAME COMMAND…: runs the command in the tree and records CPU and wall time (seconds) and peak memory (KiB).
# Memory is measured in a separate run, because GNU time costs as much as a small run.
measure() {
    local name=$1 TIMEFORMAT='%3U %3S %3R'
    shift
    prepare "$name"
    { time "$@" >"$notes/out" 2>"$notes/err"; } 2>"$notes/time" || {
        echo "failed: $name" >&2
        cat "$notes/err" >&2
        exit 1
    }
    prepare "$name"
    echo 0 >"$notes/memory"
    if $with_memory; then /usr/bin/time -f %M -o "$notes/memory" "$@" >"$notes/out" 2>"$notes/err"; fi
    echo "$name|$(cat "$notes/time")|$(tail -n 1 "$notes/memory")" >>"$notes/runs"
}

with_git=false with_ctags=false with_repomix=false
if git -C "$tree" rev-parse --git-dir >"$notes/which" 2>&1; then
    with_git=true
else
    echo "skipped: git status (the tree is not a git checkout)" >&2
fi
if has ctags; then with_ctags=true; fi
if has repomix; then with_repomix=true; fi

# A warm-up run: loads the files into memory, lets git refresh its index, and picks a file in the middle.
cd "$tree"
"${slop[@]}" index >"$notes/index"
"${slop[@]}" outline --json | cut -d'"' -f4 | sort >"$notes/files"
file=$(sed -n "$((($(wc -l <"$notes/files") + 1) / 2))p" "$notes/files")
if $with_git; then git status --porcelain >"$notes/out"; fi
if [ -n "$file" ]; then "${slop[@]}" slice make "$file" 1 >"$notes/slice"; fi

for round in $(seq "$rounds"); do
    echo "round $round of $rounds" >&2
    measure "bare, cold" "$bare" .
    measure "slop index, cold" "${slop[@]}" --quiet index
    if $with_git; then measure "git status" git status --porcelain; fi
    measure "slop index, warm" "${slop[@]}" --quiet index
    measure "slop aggregate --tier 3, warm" "${slop[@]}" aggregate --tier 3 --stdout
    measure "slop aggregate --tier 1, warm" "${slop[@]}" aggregate --tier 1 --stdout
    if [ -n "$file" ]; then measure "slop outline of one file, warm" "${slop[@]}" outline "$file"; fi
    if [ -n "$file" ]; then
        measure "slop slice make" "${slop[@]}" slice make "$file" 1
        measure "slop slice resolve" sh -c '"$@" <"$0"' "$notes/slice" "${slop[@]}" slice resolve "$file"
    fi
    if $with_ctags; then measure "ctags -R" ctags -R --exclude="$SLOP_AGGREGATION_CACHE_DIR" -f - .; fi
    if $with_repomix; then measure "repomix --compress" repomix --compress --stdout; fi
done

echo "Medians of $rounds rounds on $(nproc) cores; a cold index said: $(cat "$notes/index")"
echo
awk -F'|' '
    # Returns the median of a list of numbers.
    function median(list,    n, i, j, x, v) {
        n = split(list, v, " ")
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { x = v[j]; v[j] = v[j - 1]; v[j - 1] = x }
        return v[int((n + 1) / 2)]
    }
    function ratio(name, of) {
        if (!(of in wall)) return "-"
        return sprintf("%.2f cpu, %.2f wall of %s", cpu[name] / cpu[of], wall[name] / wall[of], of)
    }
    {
        if (!($1 in cpus)) names[++count] = $1
        split($2, t, " ")
        cpus[$1] = cpus[$1] " " (t[1] + t[2]); walls[$1] = walls[$1] " " t[3]; peaks[$1] = peaks[$1] " " $3
    }
    END {
        for (i = 1; i <= count; i++) {
            name = names[i]
            cpu[name] = median(cpus[name]); wall[name] = median(walls[name])
            # A process may be too fast for the resolution of the clock.
            if (cpu[name] == 0) cpu[name] = 0.001
            if (wall[name] == 0) wall[name] = 0.001
        }
        print "| run | ratio | cpu | wall | peak memory |"
        print "|---|---|--:|--:|--:|"
        for (i = 1; i <= count; i++) {
            name = names[i]
            of = "slop index, cold"
            if (name == of) of = "bare, cold"
            if (name ~ /warm/) of = "git status"
            shown = (name == "bare, cold" || name == "git status") ? "-" : ratio(name, of)
            peak = median(peaks[name])
            printf "| %s | %s | %.3f s | %.3f s | %s |\n", name, shown, cpu[name], wall[name], (peak > 0 ? sprintf("%.0f MB", peak * 1024 / 1000000) : "-")
        }
    }' "$notes/runs"
