#!/usr/bin/env bash
# Usage: packaging/tag.sh TAG
# Stops unless the tag is `v` and the version in Cargo.toml, so that no release has the name of another.
source "$(dirname "$0")/common.sh"

[[ $# == 1 ]] || die "usage: packaging/tag.sh TAG"
[[ $1 == "v$version" ]] || die "tag $1 is not v$version, the version in Cargo.toml"
