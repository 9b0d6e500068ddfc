#!/usr/bin/env python3
"""Measures the tables of README.md: slop, repomix, aider and ctags on one git repository with Python sources.

    tests/bench/readme_table.py --slop PROGRAM [--repomix PROGRAM] [--aider PROGRAM] [--ctags PROGRAM]
                                [--rounds 5] [--sources src] --file PATH REPOSITORY

PROGRAM is a command, such as `repomix` or `node /path/to/repomix.cjs`; programs that are not given are looked up on the
PATH, and left out if they are missing. REPOSITORY is a git repository; its HEAD is cloned into a temporary folder. PATH
is the file that is shown before and after, and that the edit appends a function to. Needs Linux, and tiktoken for
Python.

Tokens are those of o200k_base. Times are processor time of the program and its children, medians over the rounds,
divided by the time of the first run in the first column; the programs take turns. A first run has no cache.
Files that were read are counted from inotify's events. A function or class counts as named if its name occurs as a word
in the part of the output about its file; `ast` lists them, except those inside of functions.
"""
import argparse
import ast
import collections
import ctypes
import os
import pathlib
import re
import shlex
import shutil
import statistics
import struct
import subprocess
import tempfile
import threading
import time

import tiktoken

PROBE = "\n\ndef probe_of_readme_table_{}(value: int) -> int:\n    return value + {}\n"


def programs(options):
    """Returns the command line of each column, and the files that it keeps between runs."""
    found = {}
    for name, given, arguments, cache in (
        ("slop, tier 1", options.slop, "--no-daemon aggregate --tier 1 --stdout", ".slop_cache"),
        ("slop, tier 3", options.slop, "--no-daemon aggregate --tier 3 --stdout", ".slop_cache"),
        ("repomix", options.repomix, "--compress --stdout", None),
        # While no file is in the chat, aider doubles the limit: 20,000 tokens, as slop's for tier 1.
        ("aider", options.aider, "--show-repo-map --map-tokens 10000 --model gpt-4o --yes-always --no-gitignore "
         "--no-analytics --no-check-update --no-show-model-warnings --chat-history-file /dev/null "
         "--input-history-file /dev/null", ".aider.tags.cache.v4"),
        ("ctags", options.ctags, "-R --exclude=.slop_cache --exclude=.aider.tags.cache.v4 -f - .", None),
    ):
        words = shlex.split(given)
        if shutil.which(words[0]):
            found[name] = (words + shlex.split(arguments), cache)
    return found


def run(words, folder, home):
    """Runs a program; returns its output, its processor time in seconds and its peak memory in megabytes."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "OPENAI_API_KEY": "none", "PYTHONDONTWRITEBYTECODE": "1",
                   "LITELLM_LOCAL_MODEL_COST_MAP": "True", "SLOP_CONFIG": "/dev/null"}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode not in (0, 4):
            raise RuntimeError(f"{words}: {err.read().decode(errors='replace')}")
        return out.read().decode(errors="replace"), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


class ReadFiles:
    """Counts the files below a folder that are read while the block runs."""

    ACCESS, IS_FOLDER = 0x1, 0x40000000

    def __init__(self, folder, tracked):
        self.folder, self.tracked, self.read = pathlib.Path(folder), tracked, set()

    def __enter__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        self.queue = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        folders = {self.folder} | {self.folder / parent for path in self.tracked for parent in pathlib.Path(path).parents}
        self.watched = {libc.inotify_add_watch(self.queue, os.fsencode(path), self.ACCESS): path for path in folders}
        self.is_done = threading.Event()
        self.thread = threading.Thread(target=self.collect)
        self.thread.start()
        return self

    def collect(self):
        is_last = False
        while not is_last:
            is_last = self.is_done.wait(0.01)
            try:
                events = os.read(self.queue, 1 << 20)
            except BlockingIOError:
                continue
            at = 0
            while at < len(events):
                watch, mask, _, length = struct.unpack_from("iIII", events, at)
                name = events[at + 16:at + 16 + length].rstrip(b"\0")
                at += 16 + length
                if not mask & self.IS_FOLDER and watch in self.watched:
                    path = (self.watched[watch] / os.fsdecode(name)).relative_to(self.folder)
                    self.read.add(path.as_posix())

    def __exit__(self, *_):
        self.is_done.set()
        self.thread.join()
        os.close(self.queue)
        self.read &= set(self.tracked)


def parts(output, tracked):
    """Splits an output into the parts about each file, in the formats of all four programs."""
    found, current = collections.defaultdict(list), None
    for line in output.split("\n"):
        heading = re.match(r'### (.+)$|<file path="(.+)">$|(\S+):$', line)
        path = heading and next(filter(None, heading.groups()))
        fields = line.split("\t")
        row = line.split(": ", 1)
        if path in tracked:
            current = path
        elif len(fields) > 2 and fields[1].removeprefix("./") in tracked:
            found[fields[1].removeprefix("./")].append(fields[0])
        elif len(row) == 2 and row[0] in tracked:
            found[row[0]].append(row[1])
        elif current:
            found[current].append(line)
    return {path: set(re.findall(r"\w+", "\n".join(lines))) for path, lines in found.items()}


def symbols(folder, tracked, below):
    """Returns the file and name of each function and class, except those inside of functions."""
    found = set()
    for path in tracked:
        if path.endswith(".py") and path.startswith(below + "/"):
            nodes = [ast.parse((folder / path).read_bytes())]
            while nodes:
                for child in ast.iter_child_nodes(nodes.pop()):
                    if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                        found.add((path, child.name))
                    if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.expr)):
                        nodes.append(child)
    return found


def measure(options, folder, home):
    """Returns the figures of each column: lists of times, and the contents of the last round's outputs."""
    tracked = set(filter(None, subprocess.run(["git", "ls-files", "-z"], cwd=folder, capture_output=True,
                                              check=True).stdout.decode().split("\0")))
    columns = programs(options)
    figures = {name: collections.defaultdict(list) for name in columns}
    truth = symbols(folder, tracked, options.sources)
    encoding = tiktoken.get_encoding("o200k_base")
    edited = folder / options.file
    text = edited.read_text()
    for turn in range(options.rounds):
        for name, (words, cache) in columns.items():
            figure = figures[name]
            shutil.rmtree(folder / (cache or "none"), ignore_errors=True)
            output, seconds, memory = run(words, folder, home)
            figure["first"].append(seconds)
            figure["memory"].append(memory)
            figure["again"].append(run(words, folder, home)[1])
            edited.write_text(text + PROBE.format(turn, turn))
            figure["edited"].append(run(words, folder, home)[1])
            edited.write_text(text + PROBE.format(turn + 1000, turn))
            time.sleep(1)
            with ReadFiles(folder, tracked) as reading:
                after = run(words, folder, home)[0]
            figure["read"].append(len(reading.read))
            figure["shows"] = PROBE.format(turn + 1000, 0).split("(")[0].split()[-1] in after
            edited.write_text(text)
    for name, (words, cache) in columns.items():
        output = run(words, folder, home)[0]
        about = parts(output, tracked)
        figures[name]["tokens"] = len(encoding.encode(output, disallowed_special=()))
        figures[name]["named"] = sum(symbol in about.get(path, ()) for path, symbol in truth)
    views = {"the text": text}
    for mode in ("skeleton", "outline", "summary"):
        words = shlex.split(options.slop) + ["--no-daemon", "view", options.file, "--mode", mode, "--docs", "brief"]
        views[mode] = run(words, folder, home)[0]
    sizes = {mode: len(encoding.encode(view, disallowed_special=())) for mode, view in views.items()}
    return figures, len(truth), len(tracked), sizes


def table(options, figures, symbol_count, file_count, sizes):
    """Prints the tables."""
    print(f"`{options.file}`: " + ", ".join(f"{mode} {count:,} tokens" for mode, count in sizes.items()), "\n")
    unit = statistics.median(next(iter(figures.values()))["first"])

    def row(label, cell):
        print(f"| {label} | " + " | ".join(cell(figure) for figure in figures.values()) + " |")

    def ratio(key):
        return lambda figure: f"{statistics.median(figure[key]) / unit:.2f}"

    print("| | " + " | ".join(figures) + " |\n|---|" + "--:|" * len(figures))
    row("tokens of the whole project", lambda figure: f"{figure['tokens']:,}")
    row(f"named, of {symbol_count:,} functions and classes in `{options.sources}`", lambda figure: f"{figure['named']:,}")
    row("time of the first run", ratio("first"))
    row("time of a second run", ratio("again"))
    row("time of a run after an edit", ratio("edited"))
    row(f"files read after an edit, of {file_count:,}", lambda figure: f"{statistics.median(figure['read']):.0f}")
    row("shows the function that was added", lambda figure: "yes" if figure["shows"] else "no")
    row("peak memory", lambda figure: f"{statistics.median(figure['memory']):.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("slop", "repomix", "aider", "ctags"):
        parser.add_argument(f"--{name}", default=name)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sources", default="src")
    parser.add_argument("--file", required=True)
    parser.add_argument("repository")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder, home = pathlib.Path(scratch) / "project", pathlib.Path(scratch) / "home"
        home.mkdir()
        subprocess.run(["git", "clone", "-q", options.repository, str(folder)], check=True)
        # As git does, slop reads files again that were written just before it first read them.
        time.sleep(3)
        table(options, *measure(options, folder, home))


main()
