#!/bin/sh
# Tests `slop lsp` with an editor's own client, Neovim's: tests/lsp/check.sh [SLOP]
#
# It needs Neovim (Debian: apt-get install neovim), so it is not part of `cargo test`.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
if [ "$#" -eq 0 ]; then
    cargo build --quiet --locked --manifest-path "$root/Cargo.toml"
fi
SLOP=$(realpath "${1:-$root/target/debug/slop}")
work=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon"; wait; rm -rf "$work"' EXIT
PROJECT=$work/project
mkdir -p "$PROJECT/src" "$work/home"
export SLOP PROJECT HOME="$work/home" SLOP_CONFIG=/dev/null
cd "$PROJECT"
git init -q
cat > src/station.py <<'PYTHON'
class Station:
    def measure(self, unit="K"):
        """Returns the temperature."""
        return 273.15


def report(station: Station):
    return Station().measure()
PYTHON
printf 'from station import Station\n\n\ndef main():\n    print(Station().measure())\n' > src/main.py

check() {
    # Headless Neovim writes what is printed to standard error.
    timeout 120 nvim --headless --clean -u NONE -c "luafile $root/tests/lsp/neovim.lua" 2>&1
    echo
}
echo "without a daemon:"
check
echo "with one:"
"$SLOP" watch --quiet &
daemon=$!
until "$SLOP" daemon status > /dev/null 2>&1; do
    kill -0 "$daemon"
    sleep 0.1
done
check
