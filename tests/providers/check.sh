#!/bin/sh
# Validates slop's request bodies with the providers' own Python libraries: tests/providers/check.sh
#
# Installs them into a separate folder (VENV, by default below target/), so it needs PyPI and is not part of `cargo test`.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
venv=${VENV:-$root/target/providers-venv}
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
fi
"$venv/bin/python" -m pip install --quiet anthropic openai google-genai
cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
slop=$root/target/debug/slop

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/project" "$work/bodies"
cd "$work/project"
git init -q
printf 'def a():\n    return "\303\251"\n' > a.py
# Long enough for the prefix to be split more than once.
i=0
while [ "$i" -lt 30 ]; do
    yes "Some words of file $i." | head -n 800 > "long_$i.md"
    i=$((i + 1))
done
printf '["User: hello", {"role": "assistant", "content": "hi"}]' > talk.json
# A minimal valid image of one pixel.
printf 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' \
    | base64 -d > shot.png

export SLOP_CONFIG=/dev/null
for format in anthropic openai gemini; do
    "$slop" aggregate --quiet --strategy full --format "$format" --history talk.json --screenshot shot.png \
        --screenshots-inline --stdout > "$work/bodies/$format.json"
done
"$slop" aggregate --quiet --format openai --model gpt-4o --history talk.json --stdout > "$work/bodies/openai_old.json"
"$venv/bin/python" "$root/tests/providers/check.py" "$work/bodies"
