#!/usr/bin/env bash
# Tests the sub-agent against third-party servers: tests/agent/peers.sh [llama] [aimock] [litellm]
#
# llama.cpp's server runs a random model, which shows how a server really caches prompt prefixes; aimock implements five
# wires with each provider's own error messages; LiteLLM's proxy is an independent implementation that validates requests.
# Each is installed below target/ (PEERS) from PyPI and npm, which is why this is not part of `cargo test`. The first run
# builds llama.cpp, which takes about ten minutes. Fails if one of them is missing.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests/agent
peers=${PEERS:-$root/target/peers}
mkdir -p "$peers"
wanted=${*:-llama aimock litellm}
cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
slop=$root/target/debug/slop

work=$(mktemp -d)
server=
stop() {
    [ -z "$server" ] || kill "$server" 2> /dev/null || true
    wait 2> /dev/null || true
    server=
}
trap 'stop; rm -rf "$work"' EXIT

venv() { # NAME PACKAGE…
    local folder=$peers/$1
    shift
    [ -x "$folder/bin/python" ] || python3 -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet "$@"
}

wait_for() { # URL: until somebody answers there
    for _ in $(seq 600); do
        curl --silent --fail --output /dev/null --max-time 2 "$1" && return
        sleep 0.3
    done
    echo "no answer at $1:" >&2
    tail -20 "$work/server.log" >&2
    exit 1
}

expect() { # WORDS FILE
    grep -q -- "$1" "$2" || { echo "no \`$1\` in:"; cat "$2"; exit 1; }
}

project() { # makes a project of 12 files in three folders and goes there
    rm -rf "$work/project"
    mkdir -p "$work/project"
    cd "$work/project"
    git init --quiet
    for folder in core shell docs; do
        mkdir $folder
        for i in 1 2 3; do
            printf 'class Part%s:\n    """Keeps what %s %s is about."""\n\n    def run(self, steps):\n        return [step + %s for step in steps]\n\n\n' \
                $i $folder $i $i > $folder/part_$i.py
            for n in 1 2 3; do printf 'def step_%s_%s_%s(value):\n    return value * %s\n\n\n' $folder $i $n $n; done >> $folder/part_$i.py
        done
        printf '# The folder %s\n\nIt holds three parts that have much to say to each other, and each says it on its own. %s\n' $folder \
            "$(seq -s ' ' 100)" > $folder/README.md
    done
}

settings() { # MODELS, a TOML list; the rest comes from the standard input
    { printf '[agent]\nmodels = %s\nstill_seconds = 0\n' "$1"; cat; } > "$work/user.toml"
    export SLOP_CONFIG=$work/user.toml
}

llama() {
    local source=llama_cpp_python-0.3.36 port=18173
    if [ ! -x "$peers/llama-build/bin/llama-server" ]; then
        venv llama cmake ninja gguf numpy
        cd "$peers"
        llama/bin/python -m pip download --quiet --no-deps --no-binary llama-cpp-python llama-cpp-python==0.3.36
        tar xf $source.tar.gz
        PATH=$peers/llama/bin:$PATH cmake -G Ninja -S $source/vendor/llama.cpp -B llama-build -DGGML_NATIVE=OFF \
            -DBUILD_SHARED_LIBS=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_UI=OFF \
            -DLLAMA_OPENSSL=OFF -DGGML_OPENMP=OFF -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O1 \
            -DCMAKE_CXX_FLAGS_RELEASE=-O1 > build.log
        PATH=$peers/llama/bin:$PATH ninja -C llama-build llama-server >> build.log
        rm -rf $source $source.tar.gz
    fi
    [ -f "$peers/noise.gguf" ] || "$peers/llama/bin/python" "$here/noise_model.py" "$peers/noise.gguf"
    "$peers/llama-build/bin/llama-server" -m "$peers/noise.gguf" --port $port -c 32768 -np 2 --api-key sk-peer \
        > "$work/server.log" 2>&1 < /dev/null &
    server=$!
    wait_for http://127.0.0.1:$port/health
    for wire in chat anthropic responses; do
        local base=http://127.0.0.1:$port
        [ $wire = anthropic ] || base=$base/v1
        project
        # Random text has no structure, so each request is for a single tier.
        settings '["peer/noise"]' <<TOML
tiers = ["1"]
concurrency = 2
[providers.peer]
wire = "$wire"
base_url = "$base"
key_variables = ["PEER_KEY"]
needs_key = true
free = true
TOML
        PEER_KEY=sk-wrong "$slop" summarize --yes > "$work/out" 2>&1 && { echo "a wrong key was accepted"; exit 1; }
        PEER_KEY=sk-peer "$slop" summarize --yes > "$work/out" 2>&1 || { cat "$work/out"; exit 1; }
        "$slop" agent usage --json > "$work/usage"
        python3 - "$work/usage" $wire <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))["data"]["rows"]
calls = sum(row["answered"] for row in rows)
read = sum(row["cache_read_tokens"] or 0 for row in rows)
new = sum(row["input_tokens"] or 0 for row in rows)
print(f"llama.cpp, {sys.argv[2]}: {calls} answers, {read} tokens of input out of its cache, {new} that were not")
assert calls == 16, "12 files, three folders, the project"
assert new < 2 * read, "the instructions are a large part of a small file's prompt, and are sent first"
PY
        PEER_KEY=sk-peer "$slop" summarize --yes > "$work/out" 2>&1
        "$slop" agent usage --json > "$work/again"
        cmp "$work/usage" "$work/again" || { echo "a cached summary was requested again"; exit 1; }
        "$slop" aggregate --tier 1 --stdout > "$work/document"
        expect 'by a model' "$work/document"
    done
    stop
}

aimock() {
    local port=14173 log=$work/server.log
    [ -x "$peers/aimock/node_modules/.bin/llmock" ] ||
        npm install --silent --no-audit --no-fund --prefix "$peers/aimock" @copilotkit/aimock@1.43.0
    mkdir -p "$work/fixtures"
    cat > "$work/fixtures/all.json" <<'JSON'
{"fixtures": [
  {"match": {"model": "rate"}, "response": {"error": {"message": "Rate limited", "type": "rate_limit_error"}, "status": 429, "retryAfter": 1}},
  {"match": {"model": "busy"}, "response": {"error": {"message": "Overloaded", "type": "overloaded_error"}, "status": 529}},
  {"match": {"model": "broke"}, "response": {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "credit_balance_exhausted"}, "status": 429}},
  {"match": {}, "response": {"content": "<brief>A part.</brief>\n<detail>A part that runs steps.</detail>"}}
]}
JSON
    "$peers/aimock/node_modules/.bin/llmock" -p $port -f "$work/fixtures" > "$log" 2>&1 < /dev/null &
    server=$!
    wait_for http://127.0.0.1:$port/health
    for wire in anthropic chat responses gemini ollama; do
        local base=http://127.0.0.1:$port
        case $wire in chat | responses) base=$base/v1 ;; esac
        for model in good rate busy broke; do
            project
            settings "[\"peer/$model\"]" <<TOML
[providers.peer]
wire = "$wire"
base_url = "$base"
key_variables = ["PEER_KEY"]
free = true
TOML
            local code=0
            PEER_KEY=k "$slop" summarize --yes core/part_1.py > "$work/out" 2>&1 || code=$?
            "$slop" agent usage --json > "$work/usage"
            python3 - "$work/usage" $wire $model $code <<'PY'
import json, sys
path, wire, model, code = sys.argv[1:]
rows = json.load(open(path))["data"]["rows"]
calls, answered = sum(row["calls"] for row in rows), sum(row["answered"] for row in rows)
print(f"aimock, {wire}, {model}: {calls} calls, {answered} answered, exit {code}")
# Billing errors are not retried; all others at most four times.
most = {"good": (1, 1), "rate": (2, 4), "busy": (2, 4), "broke": (1, 1)}[model]
assert most[0] <= calls <= most[1], calls
assert (answered == 1) == (model == "good") == (code == "0"), (answered, code)
PY
        done
    done
    stop
}

litellm() {
    local port=14174
    venv litellm 'litellm[proxy]==1.106.2'
    cat > "$work/litellm.yaml" <<'YAML'
model_list:
  - model_name: good
    litellm_params: {model: openai/good, api_key: none, mock_response: "<brief>A part.</brief><detail>A part that runs steps.</detail>"}
  - model_name: rate
    litellm_params: {model: openai/rate, api_key: none, mock_response: "litellm.RateLimitError"}
general_settings: {master_key: sk-peer}
YAML
    LITELLM_LOCAL_MODEL_COST_MAP=True "$peers/litellm/bin/litellm" --config "$work/litellm.yaml" --host 127.0.0.1 --port $port \
        > "$work/server.log" 2>&1 < /dev/null &
    server=$!
    wait_for http://127.0.0.1:$port/health/readiness
    for wire in anthropic chat responses gemini; do
        local base=http://127.0.0.1:$port
        case $wire in chat | responses) base=$base/v1 ;; esac
        project
        # Two providers, so that only one of them fails.
        settings '["peer/rate", "second/good"]' <<TOML
$(for name in peer second; do
    printf '[providers.%s]\nwire = "%s"\nbase_url = "%s"\nkey_variables = ["PEER_KEY"]\nfree = true\n' $name $wire $base
done)
TOML
        PEER_KEY=sk-peer "$slop" summarize --yes core/part_1.py > "$work/out" 2>&1 || { cat "$work/out"; exit 1; }
        "$slop" agent show core/part_1.py > "$work/shown"
        expect 'A part that runs steps' "$work/shown"
        echo "litellm, $wire: escalated from the model that refuses to the one that answers"
    done
    stop
}

for peer in $wanted; do "$peer"; done
