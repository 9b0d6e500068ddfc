#!/usr/bin/env bash
# Usage: packaging/archive.sh TARGET
# Builds slop for a target and packs it with its documentation: slop-VERSION-TARGET.tar.gz (.zip for Windows) and the
# archive's .sha256, in target/packages or $PACKAGES_FOLDER. Prints the archive's path.
source "$(dirname "$0")/common.sh"

[[ $# == 1 ]] || die "usage: packaging/archive.sh TARGET"
target=$1
program=$("$root/packaging/build.sh" "$target")

name=slop-$version-$target
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
mkdir -p "$packages" "$staged/$name"
cp "$program" "$root"/README.md "$root"/LICENSE-* "$staged/$name/"
cp -R "$(dirname "$program")/package-files/." "$staged/$name/"

end=tar.gz
[[ $target == *windows* ]] && end=zip
python3 "$root/packaging/pack.py" "$staged/$name" "$packages/$name.$end"
echo "$(sha256_of "$packages/$name.$end")  $name.$end" >"$packages/$name.$end.sha256"
echo "$packages/$name.$end"
