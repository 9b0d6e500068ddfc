#!/usr/bin/env bash
# Looks at every view of the web page in both color schemes with axe-core, and takes a picture of each; looks also at its
# dialogs, and at small windows. Then measures what the page costs in a project of 80,000 files, and prints each figure with
# its goal; one that is missed is no failure, because it may be the machine's.
#
#   tests/ui/check.sh SLOP PROJECT [OUT] [MINUTES]
#
# SLOP is the program, PROJECT a git checkout, of which a clone below target/ is used. The pictures go to OUT, by default
# target/ui-check/pictures. Those of docs/ui are of Flask's sources; for another project, name with FILE, SYMBOL and TASK
# a file of it, a symbol in that file, and a task. Needs Chromium, and Node with npm, which fetches puppeteer-core,
# axe-core and upng-js below target/. MINUTES is how long files are written while the page is open, by default 2; with 0
# nothing is measured. Fails if axe-core finds a violation, or the page complains about anything.
set -euo pipefail

slop=$(realpath "$1")
project=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
work=$(realpath "$here/../..")/target/ui-check
out=$(realpath -m "${3:-$work/pictures}")
minutes=${4:-2}

mkdir -p "$work" "$out"
cd "$work"
[[ -d node_modules/axe-core ]] ||
    npm install --silent --no-save --no-audit --no-fund --prefix . puppeteer-core@24 axe-core@4 upng-js@2

export HOME=$work/home XDG_RUNTIME_DIR=$work/run
folder=$(basename "$project" .git)
rm -rf "$folder" "$HOME" "$XDG_RUNTIME_DIR"
mkdir -p "$HOME" "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"
git clone --quiet "$project" "$folder"
trap '(cd "$work/$folder" && "$slop" daemon stop) >/dev/null' EXIT

cp "$here"/*.mjs .
export SLOP=$slop CHROMIUM=${CHROMIUM:-$(command -v chromium)}
PROJECT=$work/$folder OUT=$out node views.mjs
[[ $minutes == 0 ]] || node figures.mjs made --minutes "$minutes"
