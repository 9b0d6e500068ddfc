#!/usr/bin/env python3
"""Measures latency and memory of the daemon with several builds of slop, alternately, on a large and a small project.

    tests/bench/performance.py LARGE SMALL SLOP...      ROUNDS=5 SYMBOLS=60 EDITS=20

LARGE and SMALL are git checkouts, of which copies are measured. Each round starts a daemon of each build in turn, so
that builds are compared under the same load. The first column of the table is the first build. Times are medians of all
rounds in milliseconds; memory is the maximum of all rounds in megabytes (10^6 bytes).
"""

import atexit
import json
import os
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SYMBOLS = int(os.environ.get("SYMBOLS", "60"))
EDITS = int(os.environ.get("EDITS", "20"))
# Memory is read after a pause, because a daemon may release some only when it has been idle for a moment.
IDLE_SECONDS = float(os.environ.get("IDLE_SECONDS", "12"))
# With the tier's limit of 80,000 tokens, as agents request it, and without a limit.
TIER3 = {"choice": {"tier": 3}}
UNLIMITED = {"choice": {"tier": 3, "budget": "none"}}
ENVIRONMENT = {**os.environ, "SLOP_CONFIG": "/dev/null"}


class Daemon:
    """A daemon in the background, and one persistent connection to it."""

    def __init__(self, slop, tree):
        self.slop, self.tree = slop, tree
        self.run("start")
        atexit.register(self.run, "stop")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.path.join(tree, ".slop_cache/daemon.sock"))
        self.pid = json.loads(self.ask("status")[0])["data"]["pid"]

    def run(self, *arguments):
        command = [self.slop, "--project", self.tree, "daemon", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT).stdout

    def ask(self, path, body=None):
        """Returns the bytes of an answer, and its time in milliseconds."""
        data = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{'GET' if body is None else 'POST'} /v1/{path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        began = time.perf_counter()
        self.socket.sendall(head.encode() + data)
        answer = bytearray()
        end = None
        while end is None or len(answer) < end:
            read = self.socket.recv(1 << 20)
            if not read:
                sys.exit("failed: the daemon closed the connection")
            answer += read
            if end is None and (split := answer.find(b"\r\n\r\n")) != -1:
                length = re.search(rb"(?i)content-length: (\d+)", answer[:split])
                end = split + 4 + int(length[1])
        took = (time.perf_counter() - began) * 1000
        if not answer.startswith(b"HTTP/1.1 200"):
            sys.exit(f"failed: {path}: {bytes(answer[:600])}")
        return bytes(answer[split + 4:]), took

    def wait_until_scanned(self):
        while True:
            status = json.loads(self.ask("status")[0])["data"]
            if status["mode"] == "events" and not status["pending"]:
                return
            time.sleep(0.02)

    def memory(self, name):
        for line in open(f"/proc/{self.pid}/status"):
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024 / 1e6
        return 0

    def spans(self):
        """Returns a line for each step of answers; no lines for a build that does not measure them."""
        return self.run("status", "--spans").partition("\n\n")[2]

    def stop(self):
        self.run("stop")


def symbols_of(daemon, count):
    """Returns names of functions that the project defines, from all over it."""
    files = [file["path"] for file in json.loads(daemon.ask("files", {})[0])["data"]["files"]]
    chance = random.Random(7)
    sources = [path for path in files if path.endswith((".py", ".c"))]
    names = set()
    for path in chance.sample(sources, min(len(sources), 4 * count)):
        text = json.dumps(json.loads(daemon.ask("outline", {"files": [path]})[0])["data"])
        names.update(re.findall(r'"kind": ?"function", "name": ?"(\w+)"|"name": ?"(\w+)"', text))
    flat = sorted({name for pair in names for name in pair if name})
    return chance.sample(flat, min(len(flat), count))


def edit(tree, paths, number):
    for path in paths:
        with open(os.path.join(tree, path), "ab") as file:
            file.write(f"\n# edit {number}\n".encode() if path.endswith(".py") else f"\n/* edit {number} */\n".encode())


def measure_large(slop, tree, figures):
    daemon = Daemon(slop, tree)
    first = daemon.ask("aggregate", TIER3)[1]
    figures.setdefault("first document after a start, JSON", []).append(first)
    daemon.wait_until_scanned()
    for _ in range(5):
        figures.setdefault("the same again", []).append(daemon.ask("aggregate", TIER3)[1])
    names = symbols_of(daemon, SYMBOLS)
    for name in names:
        figures.setdefault("symbol, HTTP", []).append(daemon.ask("symbols", {"name": name})[1])
    for name in names[:20]:
        began = time.perf_counter()
        subprocess.run([slop, "--project", tree, "symbol", name], capture_output=True, env=ENVIRONMENT, check=True)
        figures.setdefault("symbol, command", []).append((time.perf_counter() - began) * 1000)
    listed = subprocess.run(["git", "-C", tree, "ls-files", "*.py", "*.c"], capture_output=True, text=True, check=True)
    chance, files = random.Random(7), listed.stdout.split()
    for number in range(EDITS):
        edit(tree, chance.sample(files, 10), number)
        figures.setdefault("document with 10 changed files, JSON", []).append(daemon.ask("aggregate", TIER3)[1])
        edit(tree, chance.sample(files, 10), number)
        took = daemon.ask("aggregate", UNLIMITED)[1]
        figures.setdefault("the same without a limit", []).append(took)
        edit(tree, chance.sample(files, 1), number)
        name = names[number % len(names)]
        figures.setdefault("symbol after an edit, HTTP", []).append(daemon.ask("symbols", {"name": name})[1])
    time.sleep(IDLE_SECONDS)
    figures.setdefault("memory with the document kept", []).append(daemon.memory("VmRSS"))
    figures.setdefault("largest memory", []).append(daemon.memory("VmHWM"))
    spans = daemon.spans()
    daemon.stop()
    subprocess.run(["git", "-C", tree, "checkout", "-q", "."], check=True)
    return spans


def measure_small(slop, tree, figures):
    daemon = Daemon(slop, tree)
    daemon.wait_until_scanned()
    for tier in (1, 2, 3):
        daemon.ask("aggregate", {"choice": {"tier": tier}})
    daemon.ask("aggregate", {"choice": {"tier": 2, "task": "requests that time out are retried"}})
    for name in ("main", "run", "get"):
        daemon.ask("symbols", {"name": name})
    daemon.ask("files", {})
    time.sleep(IDLE_SECONDS)
    figures.setdefault("small project: memory after serving", []).append(daemon.memory("VmRSS"))
    figures.setdefault("small project: largest memory", []).append(daemon.memory("VmHWM"))
    daemon.stop()


def copy_of(tree, folder, name):
    copy = os.path.join(folder, name)
    shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".slop_cache"))
    return copy


def main():
    large, small, *builds = sys.argv[1:]
    results = [{} for _ in builds]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        trees = [(copy_of(large, folder, f"large{at}"), copy_of(small, folder, f"small{at}")) for at in range(len(builds))]
        for build, pair in zip(builds, trees):
            for tree in pair:
                subprocess.run([build, "--project", tree, "--quiet", "index"], stdout=subprocess.DEVNULL, check=True, env=ENVIRONMENT)
        for number in range(ROUNDS):
            order = list(range(len(builds)))
            for at in order if number % 2 == 0 else reversed(order):
                spans = measure_large(builds[at], trees[at][0], results[at])
                measure_small(builds[at], trees[at][1], results[at])
                print(f"round {number + 1}: {builds[at]}\n{spans}", file=sys.stderr, flush=True)
        for at, (tree, _) in enumerate(trees):
            results[at]["index.db"] = [os.path.getsize(os.path.join(tree, ".slop_cache/index.db")) / 1e6]
    for name in results[0]:
        cells = []
        for figures in results:
            values = figures[name]
            if "memory" in name or name == "index.db":
                cells.append(f"{max(values):.0f} MB")
            else:
                low, high = min(values), sorted(values)[min(len(values) - 1, len(values) * 99 // 100)]
                cells.append(f"{statistics.median(values):.1f} ms ({low:.1f} to {high:.1f})")
        print(f"| {name} | {' | '.join(cells)} |")


main()
