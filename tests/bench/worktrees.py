"""Measures the cache that all worktrees of a repository share.

    worktrees.py SLOP REPOSITORY FOLDER [--worktrees 379] [--rounds 2000]

Clones REPOSITORY into FOLDER, indexes it, and adds worktrees at the last commits in turn. Prints the time and the derived
contents of the first `slop index` in each, the disk that all caches take compared with that of the first checkout alone,
and how many answers were of another worktree than the one that was asked, while random ones are edited.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import statistics
import subprocess
import threading
import time


def run(*command, cwd=None):
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def index(slop, folder):
    began = time.perf_counter()
    report = json.loads(run(slop, "index", "--json", cwd=folder))["data"]
    return time.perf_counter() - began, report


def cache_bytes(folders):
    """Blocks of all cache folders on the disk."""
    total = 0
    for folder in folders:
        for path in pathlib.Path(folder, ".slop_cache").rglob("*"):
            total += path.lstat().st_blocks * 512
    return total


def edit(folder, number):
    """Defines a function that only this worktree has."""
    pathlib.Path(folder, "slop_worktree.py").write_text(f"def only_in_worktree_{number}():\n    return {random.random()}\n")


def is_wrong(slop, folder, number):
    """Whether an answer misses the worktree's own function, or has one of another worktree."""
    shown = run(slop, "outline", "slop_worktree.py", cwd=folder)
    return shown.count("only_in_worktree_") != 1 or f"only_in_worktree_{number} " not in shown


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("slop")
    parser.add_argument("repository")
    parser.add_argument("folder")
    parser.add_argument("--worktrees", type=int, default=379)
    parser.add_argument("--rounds", type=int, default=2000)
    arguments = parser.parse_args()
    slop = os.path.abspath(arguments.slop)
    folder = pathlib.Path(arguments.folder).resolve()
    main_checkout = folder / "main"
    run("git", "clone", "-q", "--shared", arguments.repository, str(main_checkout))
    commits = run("git", "log", "--format=%H", "-n", "40", cwd=main_checkout).split()
    seconds, report = index(slop, main_checkout)
    alone = cache_bytes([main_checkout])
    print(f"main: {report['files']} files, {report['parsed']} derived, {seconds * 1000:.0f} ms, cache {alone:,} bytes")
    # What the commits change is derived once, and counts as part of one cache.
    for commit in commits:
        run("git", "checkout", "-q", commit, cwd=main_checkout)
        index(slop, main_checkout)
    one = cache_bytes([main_checkout])
    print(f"after {len(commits)} commits: {one:,} bytes")
    worktrees, times, derived = [], [], 0
    for number in range(arguments.worktrees):
        worktree = folder / f"w{number}"
        run("git", "worktree", "add", "-q", "--detach", str(worktree), commits[number % len(commits)], cwd=main_checkout)
        seconds, report = index(slop, worktree)
        worktrees.append(worktree)
        times.append(seconds)
        derived += report["parsed"]
    everything = cache_bytes([main_checkout, *worktrees])
    print(f"{len(worktrees)} worktrees: {derived} derived, first index {statistics.median(times) * 1000:.0f} ms in the median,"
          f" {max(times) * 1000:.0f} ms at most")
    print(f"all caches: {everything:,} bytes, {everything / one:.3f} times one")
    for number, worktree in enumerate(worktrees):
        edit(worktree, number)
    wrong = failed = 0
    # A file that is written while it is read may truly be empty, so only one round at a time is about a worktree.
    locks = [threading.Lock() for _ in worktrees]

    def one_round(_):
        number = random.randrange(len(worktrees))
        with locks[number]:
            edit(worktrees[number], number)
            try:
                return is_wrong(slop, worktrees[number], number), False
            except subprocess.CalledProcessError:
                return False, True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for was_wrong, has_failed in pool.map(one_round, range(arguments.rounds)):
            wrong += was_wrong
            failed += has_failed
    print(f"{arguments.rounds} answers, 8 at a time, each after an edit: {wrong} wrong, {failed} failed")


if __name__ == "__main__":
    main()
