#!/usr/bin/env bash
# Usage: packaging/brew/formula.sh OWNER/NAME
# Writes the Homebrew formula from the sums of the archives in target/packages or $PACKAGES_FOLDER, for a release of that
# repository on GitHub. Prints its path.
source "$(dirname "$0")/../common.sh"

[[ $# == 1 && $1 == */* ]] || die "usage: packaging/brew/formula.sh OWNER/NAME"
repository=$1

# Prints `url` and `sha256` of a target's archive.
source_of() {
    local name=slop-$version-$1.tar.gz sum
    [[ -f $packages/$name.sha256 ]] || die "there is no $packages/$name.sha256"
    sum=$(cut -d ' ' -f 1 "$packages/$name.sha256")
    [[ $(sha256_of "$packages/$name") == "$sum" ]] || die "$name has another SHA-256 than $name.sha256 records"
    printf '      url "https://github.com/%s/releases/download/v%s/%s"\n      sha256 "%s"\n' \
        "$repository" "$version" "$name" "$sum"
}

arm_mac=$(source_of aarch64-apple-darwin)
intel_mac=$(source_of x86_64-apple-darwin)
arm_linux=$(source_of aarch64-unknown-linux-musl)
intel_linux=$(source_of x86_64-unknown-linux-musl)
cat >"$packages/slop-context.rb" <<FORMULA
# Written by packaging/brew/formula.sh.
class SlopContext < Formula
  desc "Prompt-ready context from a project: outlines, skeletons and summaries"
  homepage "https://github.com/$repository"
  version "$version"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
$arm_mac
    end
    on_intel do
$intel_mac
    end
  end

  on_linux do
    on_arm do
$arm_linux
    end
    on_intel do
$intel_linux
    end
  end

  conflicts_with "slop", because: "both install a \`slop\` program"

  def install
    bin.install "slop"
    man1.install "man/slop.1"
    generate_completions_from_executable(bin/"slop", "completions")
  end

  def caveats
    <<~TEXT
      \`slop daemon start\` in a project's folder keeps its cache fresh in the background.
    TEXT
  end

  test do
    (testpath/"slop.toml").write "[project]\nname = \"test\"\n"
    (testpath/"a.py").write "def run():\n    return 1\n"
    assert_match "def run()", shell_output("#{bin}/slop view a.py --mode skeleton")
  end
end
FORMULA
echo "$packages/slop-context.rb"
