#!/usr/bin/env python3
"""Measures the share of later edited files that `slop hydrate` provides, and how much of its document stays the same.

    tests/bench/hydration.py [--commits 300] [--steps 20] [--slop PATH] REPOSITORY...

Each REPOSITORY is a git repository with history, bare or not. It is checked out as it was `--commits` first-parent
commits ago and hydrated with the default limits. The result is the share of edited files that are HOT, or WARM at depth
2 or more, among files that existed then, as the mean over those commits. Two baselines fill the same number of bytes
(hydration.max_project_bytes): files by path, and files by how often earlier commits changed them.

Then the last `--steps` of those commits are checked out one after another, hydrated, and the document is written. The
mean share of its bytes that are a common prefix with the previous document is what a provider's prompt cache keeps.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import tempfile

MOST_BYTES = 10 << 20


def git(folder, *words):
    done = subprocess.run(["git", "-C", folder, *words], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "surrogateescape")


def edited(folder, commit):
    names = git(folder, "diff", "--no-renames", "--name-only", "-z", f"{commit}^", commit)
    return {name for name in names.split("\0") if name}


def mean(values):
    return sum(values) / len(values) if values else float("nan")


def share(commits, shown, existing):
    shares = []
    for files in commits:
        files = files & existing
        if files:
            shares.append(len(files & shown) / len(files))
    return mean(shares)


def fill(folder, names):
    total, shown = 0, set()
    for name in names:
        path = pathlib.Path(folder, name)
        size = path.stat().st_size if path.is_file() and not path.is_symlink() else MOST_BYTES
        if total + size <= MOST_BYTES:
            total += size
            shown.add(name)
    return shown


def measure(repository, options, scratch):
    folder = str(pathlib.Path(scratch, "clone"))
    subprocess.run(["git", "clone", "-q", "--shared", repository, folder], check=True)
    head = git(folder, "rev-parse", "HEAD").strip()
    commits = git(folder, "rev-list", "--first-parent", f"--max-count={options.commits + 1}", head).split()
    start, later = commits[-1], commits[-2::-1]
    git(folder, "checkout", "-q", start)
    existing = {name for name in git(folder, "ls-files", "-z").split("\0") if name}

    def slop(*words):
        done = subprocess.run([options.slop, "--project", folder, *words], capture_output=True)
        if done.returncode not in (0, 4):
            raise RuntimeError(done.stderr.decode(errors="replace"))
        return done.stdout

    slop("hydrate")
    rows = [json.loads(line) for line in slop("fragments", "--json").splitlines()]
    ready = {row["path"] for row in rows if row["tier"] in ("HOT", "WARM") and row["detail_depth"] >= 2}
    hot = {row["path"] for row in rows if row["tier"] == "HOT" and row["detail_depth"] >= 2}
    edits = [edited(folder, commit) for commit in later]
    counts = collections.Counter()
    for name in git(folder, "log", "--first-parent", "--diff-merges=first-parent", "--no-renames", "--max-count=2000", "--format=", "--name-only", "-z", start).split("\0"):
        counts[name.strip()] += 1
    by_path = fill(folder, sorted(existing))
    by_count = fill(folder, [name for name, _ in counts.most_common() if name in existing])
    kept, before = [], None
    for commit in later[-options.steps :]:
        git(folder, "checkout", "-q", commit)
        slop("hydrate")
        document = slop("aggregate", "--hydrated", "--stdout")
        if before is not None:
            kept.append(len(os.path.commonprefix([before, document])) / max(len(before), 1))
        before = document
    return (
        len(existing),
        share(edits, ready, existing),
        share(edits, hot, existing),
        share(edits, by_path, existing),
        share(edits, by_count, existing),
        mean(kept),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repositories", nargs="+")
    parser.add_argument("--commits", type=int, default=300)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--slop", default="target/release/slop")
    options = parser.parse_args()
    options.slop = str(pathlib.Path(options.slop).resolve())
    print("| repository | files | HOT and WARM | HOT | by path | by changes | prefix kept |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for repository in options.repositories:
        with tempfile.TemporaryDirectory() as scratch:
            files, *shares = measure(repository, options, scratch)
        name = pathlib.Path(repository.rstrip("/")).name
        print(f"| {name} | {files} | " + " | ".join(f"{value:.2f}" for value in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
