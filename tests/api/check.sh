#!/bin/sh
# Tests the daemon against its OpenAPI document with generated requests: tests/api/check.sh [EXAMPLES]
#
# schemathesis generates valid and invalid requests from the document, at most EXAMPLES (200) per route, and sends them to
# a real daemon's port. No response may be a server error or deviate from the document. schemathesis is installed below
# target/, so this needs PyPI and is not part of `cargo test`. SEED reproduces a failed run.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
venv=${VENV:-$root/target/api-venv}
examples=${1:-200}
if [ ! -x "$venv/bin/schemathesis" ]; then
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet 'schemathesis==4.32.5'
fi
cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
slop=${SLOP:-$root/target/debug/slop}

work=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon"; wait; rm -rf "$work"' EXIT
mkdir -p "$work/project/src"
cd "$work/project"
git init -q -b main
printf 'class Engine:\n    def run(self):\n        return "\303\251"\n' > src/engine.py
printf '# Odd\n' > 'a b.md'
printf '\377\376\000bytes' > x.bin
printf 'no utf-8' > "$(printf 'odd\377.txt')"
printf 'KEY=1\n' > .env
seq 1 20000 > long.txt
git add -A
git -c user.name=a -c user.email=a@b commit -q -m one
echo '# More' >> 'a b.md'

export SLOP_CONFIG=/dev/null
"$slop" watch --quiet --listen 127.0.0.1:0 &
daemon=$!
until "$slop" daemon status > "$work/status" 2>&1; do
    kill -0 "$daemon"
    sleep 0.1
done
value() {
    sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" .slop_cache/daemon.listen
}
url=http://$(value address)
cp "$root/tests/api/schemathesis.toml" "$root/tests/api/hooks.py" "$work/"

# `/v1/stop` would stop the daemon. Requests without a token are tested by tests/it/daemon/api.rs.
cd "$work"
PYTHONPATH="$work" SCHEMATHESIS_HOOKS=hooks "$venv/bin/schemathesis" run "$root/docs/openapi.json" --url "$url" \
    --header "Authorization: Bearer $(cd project && value token)" --exclude-path /v1/stop \
    --phases examples,coverage,fuzzing --checks all --max-examples "$examples" --continue-on-failure \
    --request-timeout 20 --suppress-health-check all --no-color ${SEED:+--seed "$SEED"} ${OPTIONS:-}

"$slop" --project "$work/project" audit
"$slop" --project "$work/project" daemon status
