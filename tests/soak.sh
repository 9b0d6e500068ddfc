#!/usr/bin/env bash
# Repeats the daemon's tests with new random seeds, for as long as there is time:
#
#   tests/soak.sh [--hours H] [--part P] [--log FILE] [FILTER...]
#   tests/soak.sh --table [--log FILE]
#
#   --hours H   starts no test after so many hours; without it, each test runs once
#   --part P    divides the repetitions of each test by P: 1 is a night, 100 takes minutes; 20 by default
#   --log FILE  one line of JSON for each test and for each minute (target/soak/log.jsonl). A run continues where the log
#               ends: its tests are not run again with the same seed
#   --table     prints what the log has, test by test: runs, repetitions, failures
#   FILTER      only the tests whose names contain one of these; all of `daemon::` and `store_file::` by default
#
# docs/reliability.md lists what each test does and how often. Tests run one after the other, each with the machine to
# itself, in an optimized build. Those that miss python3, strace or unshare are skipped. The output of a test that failed
# is kept beside the log. The exit code is 1 if a test has failed.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
hours= part=20 log=$root/target/soak/log.jsonl table=no filters=()
while (($#)); do
    case $1 in
        --hours) hours=$2; shift ;;
        --part) part=$2; shift ;;
        --log) log=$2; shift ;;
        --table) table=yes ;;
        -*) echo "error: unknown flag $1" >&2; sed -n 's/^# \{0,1\}//; 2,/^$/p' "$0" >&2; exit 2 ;;
        *) filters+=("$1") ;;
    esac
    shift
done

if [[ $table == yes ]]; then
    exec python3 - "$log" <<'PYTHON'
import collections, json, sys
runs = collections.defaultdict(lambda: collections.Counter())
for line in open(sys.argv[1]):
    entry = json.loads(line)
    if entry["event"] == "test":
        runs[entry["test"]].update({entry["result"]: 1, "repetitions": entry["repetitions"], "seconds": entry["seconds"]})
print(f"{'test':78} {'passed':>7} {'failed':>7} {'skipped':>7} {'repetitions':>12} {'seconds':>8}")
for test, count in sorted(runs.items()):
    print(f"{test:78} {count['passed']:7} {count['failed']:7} {count['skipped']:7} {count['repetitions']:12} {count['seconds']:8}")
PYTHON
fi

((${#filters[@]})) || filters=(daemon:: store_file::)
mkdir -p "$(dirname "$log")"
touch "$log"
binary=$(cargo test --profile fast --locked --manifest-path "$root/Cargo.toml" --test it --no-run \
    --message-format json | python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["target"]["name"] == "it":
        print(message["executable"])')
mapfile -t tests < <("$binary" --list "${filters[@]}" | sed -n 's/: test$//p')
commit=$(git -C "$root" rev-parse --short HEAD)
# A test that is complete with a seed has a line in the log, whichever run wrote it.
seed=$(sed -n 's/.*"event":"test".*"seed":\([0-9]*\).*/\1/p' "$log" | sort -n | tail -1)
seed=${seed:-1}
end=$((SECONDS + $(python3 -c "print(int(3600 * float('${hours:-0}')))")))
failures=0 completed=0 total=0 minute=$SECONDS

# Appends a line about the run as a whole, once a minute.
report_minute() {
    ((minute + 60 <= SECONDS)) || return 0
    minute=$SECONDS
    printf '{"event":"minute","time":"%s","commit":"%s","seed":%d,"running":"%s","completed":%d,"failed":%d,"repetitions":%d,"load":%s}\n' \
        "$(date -u +%FT%TZ)" "$commit" "$seed" "$1" "$completed" "$failures" "$total" "$(cut -d' ' -f1 /proc/loadavg)" >>"$log"
}

run_test() {
    local test=$1 output began=$SECONDS result=passed repetitions
    output=$(dirname "$log")/running.txt
    SLOP_SOAK=$part SLOP_SOAK_SEED=$seed "$binary" --exact "$test" --nocapture >"$output" 2>&1 &
    local process=$!
    while kill -0 "$process" 2>/dev/null; do
        report_minute "$test"
        sleep 0.2
    done
    if ! wait "$process"; then
        result=failed
        failures=$((failures + 1))
        cp "$output" "$(dirname "$log")/failed-$seed-${test//::/-}.txt"
    elif grep -q '^SKIPPED' "$output"; then
        result=skipped
    fi
    repetitions=$(sed -n 's/.*repetitions: \([0-9]*\)$/\1/p' "$output" | awk '{ sum += $1 } END { print sum + 0 }')
    completed=$((completed + 1)) total=$((total + repetitions))
    printf '{"event":"test","time":"%s","commit":"%s","seed":%d,"test":"%s","result":"%s","repetitions":%d,"seconds":%d}\n' \
        "$(date -u +%FT%TZ)" "$commit" "$seed" "$test" "$result" "$repetitions" $((SECONDS - began)) >>"$log"
}

while :; do
    for test in "${tests[@]}"; do
        grep -qF "\"seed\":$seed,\"test\":\"$test\"" "$log" && continue
        [[ -z $hours ]] || ((SECONDS < end)) || break 2
        run_test "$test"
    done
    seed=$((seed + 1))
    [[ -n $hours ]] || break
done
echo "$completed tests, $failures failed, $total repetitions: $log"
((failures == 0))
