"""Measures the cache that all worktrees of a repository share.

    worktrees.py SLOP REPOSITORY FOLDER [--worktrees 379] [--rounds 2000] [--daemons 0] [--daemon-rounds 100000]

Clones REPOSITORY into FOLDER, indexes it, and adds worktrees at the last commits in turn. Prints the time and the
number of derived contents of the first `slop index` in each, the disk space of all caches compared with that of the
first checkout, and the number of wrong answers (from another worktree), while random worktrees are edited.

With --daemons, that many worktrees then get a daemon each. The memory of all daemons (PSS, so that shared pages count
once) and the number of their wrong answers are printed. The system must allow enough inotify instances
(`sysctl fs.inotify.max_user_instances`). Daemons without one compare all files for each answer; the
number of daemons with events is printed.
"""

import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import random
import socket
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
    """The disk space of all cache folders."""
    total = 0
    for folder in folders:
        for path in pathlib.Path(folder, ".slop_cache").rglob("*"):
            total += path.lstat().st_blocks * 512
    return total


def edit(folder, number):
    """Defines a function that only this worktree has."""
    pathlib.Path(folder, "slop_worktree.py").write_text(f"def only_in_worktree_{number}():\n    return {random.random()}\n")


def is_wrong(slop, folder, number):
    """Whether an answer lacks the worktree's own function, or has one of another worktree."""
    shown = run(slop, "outline", "slop_worktree.py", cwd=folder)
    return shown.count("only_in_worktree_") != 1 or f"only_in_worktree_{number} " not in shown


class Daemon:
    """A daemon in a worktree, and a connection to it."""

    def __init__(self, slop, folder):
        self.process = subprocess.Popen([slop, "watch", "--quiet"], cwd=folder, stdout=subprocess.DEVNULL)
        self.socket = os.path.relpath(pathlib.Path(folder, ".slop_cache", "daemon.sock"))
        self.connection = None

    def connect(self):
        deadline = time.monotonic() + 300
        while self.connection is None:
            stream = socket.socket(socket.AF_UNIX)
            try:
                stream.connect(self.socket)
            except OSError:
                stream.close()
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
                continue
            self.connection = http.client.HTTPConnection("localhost")
            self.connection.sock = stream

    def ask(self, method, route, body=None):
        body = None if body is None else json.dumps(body)
        while True:
            self.connect()
            try:
                self.connection.request(method, route, body, {"Content-Type": "application/json"})
                return json.loads(self.connection.getresponse().read())
            except (ConnectionError, http.client.HTTPException):
                # A daemon closes a connection that has been idle for five seconds.
                self.connection.close()
                self.connection = None

    def memory(self):
        """Bytes in memory, with the process's part of shared pages."""
        for line in pathlib.Path("/proc", str(self.process.pid), "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
        return 0


def measure_daemons(slop, worktrees, rounds):
    os.chdir(worktrees[0].parent)
    daemons = [Daemon(slop, worktree) for worktree in worktrees]
    try:
        for daemon in daemons:
            daemon.connect()
        modes = [daemon.ask("GET", "/v1/status")["data"]["mode"] for daemon in daemons]
        memory = sum(daemon.memory() for daemon in daemons)
        print(f"{len(daemons)} daemons, {modes.count('events')} of them with events: {memory / 2**20:,.0f} MiB when idle,"
              f" {memory / len(daemons) / 2**20:.1f} MiB each", flush=True)
        wrong = failed = 0
        began = time.perf_counter()
        for _ in range(rounds):
            number = random.randrange(len(daemons))
            edit(worktrees[number], number)
            answer = daemons[number].ask("POST", "/v1/outline", {"files": ["slop_worktree.py"]})
            if "data" not in answer:
                failed += 1
                continue
            shown = json.dumps(answer["data"])
            wrong += f"def only_in_worktree_{number}()" not in shown or shown.count("def only_in_worktree_") != 1
        seconds = time.perf_counter() - began
        memory = sum(daemon.memory() for daemon in daemons)
        print(f"{rounds} answers of daemons in {seconds:.0f} s, each after an edit: {wrong} wrong, {failed} failed;"
              f" then {memory / 2**20:,.0f} MiB")
    finally:
        for daemon in daemons:
            daemon.process.terminate()
        for daemon in daemons:
            daemon.process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("slop")
    parser.add_argument("repository")
    parser.add_argument("folder")
    parser.add_argument("--worktrees", type=int, default=379)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--daemons", type=int, default=0)
    parser.add_argument("--daemon-rounds", type=int, default=100_000)
    arguments = parser.parse_args()
    slop = os.path.abspath(arguments.slop)
    folder = pathlib.Path(arguments.folder).resolve()
    main_checkout = folder / "main"
    run("git", "clone", "-q", "--shared", arguments.repository, str(main_checkout))
    commits = run("git", "log", "--format=%H", "-n", "40", cwd=main_checkout).split()
    seconds, report = index(slop, main_checkout)
    alone = cache_bytes([main_checkout])
    print(f"main: {report['files']} files, {report['parsed']} derived, {seconds * 1000:.0f} ms, cache {alone:,} bytes")
    # Contents that the commits change are derived once, and count as part of one cache.
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
    # A file may be empty while it is being written, so only one round at a time uses a worktree.
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
    print(f"{arguments.rounds} answers, 8 at a time, each after an edit: {wrong} wrong, {failed} failed", flush=True)
    if arguments.daemons:
        measure_daemons(slop, worktrees[: arguments.daemons], arguments.daemon_rounds)


if __name__ == "__main__":
    main()
