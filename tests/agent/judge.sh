#!/usr/bin/env bash
# Compares summaries by the configured model with the heuristic's: tests/agent/judge.sh PROJECT [COMMITS [BUDGET [--yes]]]
#
# For each of the last COMMITS commits of PROJECT that changed files, a document for tier 2 is composed of the state before
# it, for its message as the task, once with each kind of summary and the same budget. Prints which share of the files that
# the commit changed each kind of document shows with a block, and which share of the names of the symbols that it
# changed. The model is the one of the user's settings; before each commit, `slop summarize` shows the cost and asks,
# unless it is told `--yes`.
#
# Needs git, jq and a project with history. Nothing in PROJECT is changed: it works on a clone.
set -euo pipefail
project=${1:?"usage: tests/agent/judge.sh PROJECT [COMMITS [BUDGET [--yes]]]"}
commits=${2:-10}
budget=${3:-8000}
confirmed=(${4:+"$4"})
root=$(cd "$(dirname "$0")/../.." && pwd)
slop=${SLOP:-$root/target/debug/slop}
[ -x "$slop" ] || cargo build --quiet --locked --manifest-path "$root/Cargo.toml"

if ! "$slop" --project "$project" config show --json |
    jq --exit-status '.data.values[] | select(.key == "agent.models" and .value != "[]" or .key == "agent.persona" and .value != "\"\"")' > /dev/null; then
    echo "no model is configured: agent.models and agent.persona are empty, so there is nothing to compare"
    exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet --shared "$project" "$work/clone"
cd "$work/clone"

# Prints two numbers for a document: how many of the changed files have a block, and how many of the changed names occur.
score() { # DOCUMENT FILES NAMES
    local blocks=0 names=0
    while read -r file; do
        grep --quiet --line-regexp --fixed-strings "### $file" "$1" && blocks=$((blocks + 1))
    done < "$2"
    while read -r name; do
        grep --quiet --word-regexp --fixed-strings -- "$name" "$1" && names=$((names + 1))
    done < "$3"
    echo "$blocks $names"
}

declare -A blocks=([model]=0 [heuristic]=0) names=([model]=0 [heuristic]=0)
all_files=0
by_model=0
all_names=0
for commit in $(git log --no-merges --diff-filter=M --format=%H -n "$commits"); do
    git checkout --quiet --detach "$commit^" 2> /dev/null || continue
    git diff --name-only --diff-filter=M "$commit^" "$commit" > "$work/files"
    # What git names in the heads of hunks are the symbols around the changes.
    git diff --unified=0 "$commit^" "$commit" | sed -nE 's/^@@[^@]*@@.*[^[:alnum:]_]([[:alpha:]_][[:alnum:]_]{3,})[(:].*/\1/p' |
        sort --unique > "$work/names"
    all_files=$((all_files + $(wc -l < "$work/files")))
    all_names=$((all_names + $(wc -l < "$work/names")))
    git log -1 --format=%B "$commit" > "$work/task"
    # Exit code 4: some files are withheld or declined, which is how it is with real projects. A checkout makes every file
    # young; the wait for a person to finish typing is not meant for it.
    SLOP_AGENT_STILL_SECONDS=0 "$slop" summarize --tier 2 "${confirmed[@]}" || [ $? -eq 4 ]
    for kind in model heuristic; do
        by=$([ $kind = model ] && echo agent || echo heuristic)
        SLOP_TIERS_2_SUMMARY=$by "$slop" aggregate --tier 2 --budget "$budget" --task-file "$work/task" --no-history \
            --stdout > "$work/$kind.md"
        read -r found_blocks found_names <<< "$(score "$work/$kind.md" "$work/files" "$work/names")"
        blocks[$kind]=$((blocks[$kind] + found_blocks))
        names[$kind]=$((names[$kind] + found_names))
    done
    shown=$(grep --count '· summary by a model$' "$work/model.md" || true)
    by_model=$((by_model + shown))
done

if [ "$by_model" = 0 ]; then
    echo "no document shows a summary by the model, so there is nothing to compare: see \`slop summarize --estimate\`" >&2
    exit 1
fi
echo "$by_model summaries by the model are in the documents"
for kind in model heuristic; do
    echo "$kind: ${blocks[$kind]} of $all_files changed files have a block, ${names[$kind]} of $all_names changed names occur"
done
better() { # MODEL HEURISTIC
    if [ "$1" -gt "$2" ]; then echo "the model"; elif [ "$1" -lt "$2" ]; then echo "the heuristic"; else echo "neither"; fi
}
echo "more files: $(better "${blocks[model]}" "${blocks[heuristic]}"); more names: $(better "${names[model]}" "${names[heuristic]}")"
