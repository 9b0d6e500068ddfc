#!/bin/sh
# Tests `slop mcp` and a daemon's `/mcp` with third-party clients: tests/mcp/check.sh [SLOP]
#
# The protocol's Python SDK lists and calls everything, once for each way to open a session, and validates the results
# against the schemas; the inspector does the same from Node. Each does so without a daemon and with one, and over HTTP, in
# versions with sessions and without. Both are installed below target/, so this needs PyPI and npm and is not part of
# `cargo test`. INSPECTOR= skips the inspector.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
venv=${VENV:-$root/target/mcp-venv}
inspector=${INSPECTOR-@modelcontextprotocol/inspector@2.12.0}
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
fi
"$venv/bin/python" -m pip install --quiet mcp jsonschema
if [ "$#" -eq 0 ]; then
    cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
fi
slop=$(realpath "${1:-$root/target/debug/slop}")

work=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon"; wait; rm -rf "$work"' EXIT
mkdir -p "$work/project/src" "$work/project/many" "$work/home"
cd "$work/project"
git init -q
printf 'class Engine:\n    def run(self):\n        return "\303\251"\n' > src/engine.py
printf '# Odd\n' > 'a b%%20[1]\303\274.md'
seq 1 20000 > long.txt
# More files and resources than fit on one page.
i=0
while [ "$i" -lt 250 ]; do
    echo "# File $i" > "many/$i.md"
    i=$((i + 1))
done

# The address of a daemon's endpoint, once there is one.
http=
export SLOP_CONFIG=/dev/null
if [ -n "$inspector" ]; then
    mkdir -p "$root/target/mcp-inspector"
    npm install --silent --no-audit --no-fund --prefix "$root/target/mcp-inspector" "$inspector"
fi

# It keeps what it was connected to in the home folder.
inspect() {
    if [ -z "$http" ]; then
        transport=stdio
        set -- "$slop" mcp "$@"
    else
        transport=HTTP
        set -- "$http" --transport http --header "$authorization" "$@"
    fi
    HOME=$work/home "$root/target/mcp-inspector/node_modules/.bin/mcp-inspector" --cli --protocol-era "$era" "$@" \
        > "$work/answer"
}
expect() {
    grep -q -- "$1" "$work/answer" || { echo "inspector: no \`$1\` in:"; cat "$work/answer"; exit 1; }
}
inspect_all() {
    for era in legacy modern; do
        inspect_in_era
    done
}
inspect_in_era() {
    inspect --method tools/list --strict
    expect '"slop_aggregate"'
    inspect --method tools/call --tool-name slop_aggregate --tool-arg tier=1 budget=5000
    expect 'tokens of 5000'
    inspect --method tools/call --tool-name slop_view --tool-arg 'files=["src/engine.py"]' mode=full
    expect 'class Engine'
    inspect --method tools/call --tool-name slop_outline --tool-arg 'files=["src"]'
    expect 'def run'
    inspect --method tools/call --tool-name slop_symbol --tool-arg name=run definition=true
    expect '"qualified_name": "Engine.run"'
    inspect --method tools/call --tool-name slop_status --tool-arg state=fresh
    expect '"next_cursor"'
    inspect --method resources/list
    expect 'slop://view/full/long.txt'
    inspect --method resources/templates/list
    expect 'slop://view/{mode}/{+path}'
    inspect --method resources/read --uri slop://view/outline/src/engine.py
    expect '\[Class\] Engine'
    echo "the inspector listed and called everything ($transport, $era)"
}
check() {
    # Clients of old versions subscribe as they always have.
    "$venv/bin/python" -W ignore:resources/ "$root/tests/mcp/check.py" "$slop" "$work/project"
    [ -z "$inspector" ] || inspect_all
}
answers() {
    "$slop" daemon status --json | "$venv/bin/python" -c 'import json, sys; print(json.load(sys.stdin)["data"]["answers"])'
}

echo "without a daemon:"
check
echo "with one:"
"$slop" watch --quiet --listen 127.0.0.1:0 &
daemon=$!
until "$slop" daemon status > /dev/null 2>&1; do
    kill -0 "$daemon"
    sleep 0.1
done
before=$(answers)
check
if [ -n "$inspector" ]; then
    listen() {
        "$venv/bin/python" -c 'import json, sys; print(json.load(open(".slop_cache/daemon.listen"))[sys.argv[1]])' "$1"
    }
    http=http://$(listen address)/mcp
    authorization="Authorization: Bearer $(listen token)"
    inspect_all
fi
after=$(answers)
[ "$after" -ge $((before + 10)) ] || { echo "the daemon was not queried: $before, then $after answers"; exit 1; }
echo "the daemon gave $((after - before)) answers"
