#!/usr/bin/env bash
# Usage: packaging/action/install.sh VERSION FOLDER
# Downloads the archive of a release for this machine, checks its sum and where it was built, and puts the program into
# FOLDER. RELEASES_REPOSITORY is the repository on GitHub; RELEASES_URL names another place with its files.
set -euo pipefail

die() {
    echo "error: $*" >&2
    exit 1
}

[[ $# == 2 ]] || die "usage: packaging/action/install.sh VERSION FOLDER"
version=${1#v}
folder=$2
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+([.-][0-9A-Za-z.-]+)?$ ]] || die "not a version: $1 (write it as in 0.1.0)"

case $(uname -s)-$(uname -m) in
    Linux-x86_64) target=x86_64-unknown-linux-musl ;;
    Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl ;;
    Darwin-x86_64) target=x86_64-apple-darwin ;;
    Darwin-arm64) target=aarch64-apple-darwin ;;
    MINGW*-x86_64 | MSYS*-x86_64) target=x86_64-pc-windows-msvc ;;
    *) die "there is no program for $(uname -s) on $(uname -m)" ;;
esac

archive=slop-$version-$target.tar.gz
program=slop
[[ $target == *windows* ]] && archive=slop-$version-$target.zip program=slop.exe
downloads=${RELEASES_URL:-https://github.com/${RELEASES_REPOSITORY:?}/releases/download/v$version}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "$archive" "$archive.sha256"; do
    curl --fail --silent --show-error --location --retry 3 --output "$work/$file" "$downloads/$file" ||
        die "$downloads/$file cannot be downloaded: is there a release $version for $target?"
done

cd "$work"
recorded=$(cut -d ' ' -f 1 "$archive.sha256")
found=$(if command -v sha256sum >/dev/null; then sha256sum "$archive"; else shasum -a 256 "$archive"; fi | cut -d ' ' -f 1)
[[ $recorded == "$found" ]] || die "$archive has another SHA-256 than $archive.sha256 records"
# A sum from the same place shows damage alone. The attestation shows which workflow has built the archive.
if [[ -z ${RELEASES_URL:-} ]]; then
    gh attestation verify "$archive" --repo "$RELEASES_REPOSITORY" >/dev/null ||
        die "$archive has no attestation of $RELEASES_REPOSITORY"
fi

mkdir -p "$folder"
if [[ $archive == *.zip ]]; then unzip -q "$archive"; else tar -xzf "$archive"; fi
cp "slop-$version-$target/$program" "$folder/"
"$folder/$program" --version
