#!/usr/bin/env bash
# Checks that the Rust code compiles for macOS and Windows: `packaging/check.sh [TARGET…]`. Their C code is not compiled.
# A target that `rustup target add` has not installed is reported as `not tried`.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=("$@")
((0 < $#)) || targets=(x86_64-apple-darwin x86_64-pc-windows-gnu)
stub=$PWD/packaging/stub_cc.sh
for target in "${targets[@]}"; do
    if [[ ! -d $(rustc --print target-libdir --target "$target") ]]; then
        echo "not tried: cargo check of $target, because its standard library is not installed (rustup target add $target)"
        continue
    fi
    name=${target//-/_}
    env "CC_$name=$stub" "CXX_$name=$stub" "AR_$name=$stub" CRATE_CC_NO_DEFAULTS=1 \
        cargo check --quiet --locked --target "$target"
    echo "checked: $target"
done
