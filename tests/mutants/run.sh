#!/bin/sh
# Inserts bugs into slop and checks that tests fail: tests/mutants/run.sh [NAME...]
#
# Each patch here removes one thing that answers rely on, and names the tests that must fail without it. Every patch is
# applied to a copy of the last commit, built, and tested with those tests only; all of them must first pass in the
# unmodified copy. A patch that no longer applies or builds, a missing test and a test that passes are errors. Not part
# of `cargo test`, because it builds slop once per patch.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
# Kept between runs, because a build from scratch takes longer than everything that follows.
export CARGO_TARGET_DIR="${MUTANTS_TARGET:-$root/target/mutants}"
copy=$CARGO_TARGET_DIR/copy
rm -rf "$copy"
mkdir -p "$copy"
git clone --quiet --shared "$root" "$copy/slop" && cd "$copy/slop" || exit 1

patches() {
    if [ $# -eq 0 ]; then
        ls "$root"/tests/mutants/*.patch
        return
    fi
    for name; do ls "$root/tests/mutants/$name"*.patch; done
}

# Prints the tests that the patches name, as KIND=NAME.
tests_of() {
    sed -n 's/^Killed-by: \(lib\|it\) /\1=/p' "$@" | sort -u
}

# Builds the test binaries that the patches need.
build() {
    flags=
    tests_of "$@" | grep -q ^lib= && flags=--lib
    tests_of "$@" | grep -q ^it= && flags="$flags --test it"
    # shellcheck disable=SC2086
    cargo test --quiet --no-run $flags > "$copy/build" 2>&1
}

# Prints the result of one test: passes, fails, or is missing.
judge() {
    kind=$1 name=$2
    [ "$kind" = lib ] && flags=--lib || flags="--test $kind"
    # shellcheck disable=SC2086
    timeout 300 cargo test --quiet $flags -- --exact "$name" > "$copy/ran" 2>&1
    code=$?
    if [ $code -eq 124 ]; then
        echo fails
    elif grep -q 'running 0 tests' "$copy/ran" || ! grep -q '^running' "$copy/ran"; then
        echo "is not there"
    elif [ $code -eq 0 ]; then
        echo passes
    else
        echo fails
    fi
}

row() {
    printf '| %-23s | %-103s | %-8s |\n' "$1" "$2" "$3"
}

bad=0
list=$(patches "$@") || exit 1
# shellcheck disable=SC2086
build $list || { cat "$copy/build"; exit 1; }
# shellcheck disable=SC2086
for test in $(tests_of $list); do
    result=$(judge "${test%%=*}" "${test#*=}")
    if [ "$result" != passes ]; then
        echo "unbroken, $test $result:"
        tail -n 30 "$copy/ran"
        bad=1
    fi
done
[ $bad -eq 0 ] || exit 1

row mutant test result
row --- --- ---
for patch in $list; do
    name=$(basename "$patch" .patch)
    git checkout --quiet -- .
    if ! git apply -C1 --recount "$patch" 2> "$copy/build" || ! build "$patch"; then
        row "$name" "$(grep -m 1 ^error "$copy/build")" 'NO BUILD'
        bad=1
        continue
    fi
    for test in $(tests_of "$patch"); do
        case $(judge "${test%%=*}" "${test#*=}") in
            fails) result=killed ;;
            *) result=SURVIVES bad=1 ;;
        esac
        row "$name" "${test#*=}" "$result"
    done
done
exit $bad
