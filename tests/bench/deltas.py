#!/usr/bin/env python3
"""Compares what `slop aggregate --since-last` delivers for real commits with `git diff`.

    tests/bench/deltas.py [--commits 60] [--slop PATH] [--tier 3] REPOSITORY...

Each REPOSITORY is a git repository with history, bare or not. The commits are evenly spaced over its last 1,200,
without merges. For each commit, a project with the files that it changes is aggregated before and after the commit. By
default, the reader has the full texts; with --tier, it has what that tier shows.

For each repository, the program prints the tokens of `git diff` divided by the tokens of the changed files' blocks with
their headings, in total and as the mean over commits with a 95 % interval (bootstrap); and the share of the symbols
touched by git's hunks that the delta names, where the innermost and the outermost symbol around each changed line that
is not blank count. Files that a commit adds, deletes or renames are counted separately: a new file is delivered in
full.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile

HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.M)


def run(*words, cwd=None, ok=(0,)):
    done = subprocess.run(words, cwd=cwd, env=ENVIRONMENT, capture_output=True)
    if done.returncode not in ok:
        raise RuntimeError(f"{words}: {done.stderr.decode(errors='replace')}")
    return done.stdout


class Project:
    """A folder outside of git with some files of a repository."""

    def __init__(self, slop, folder):
        self.slop, self.folder = slop, pathlib.Path(folder)

    def ask(self, *words, ok=(0, 4)):
        return json.loads(run(self.slop, "--project", str(self.folder), *words, "--json", ok=ok))["data"]

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def outlines(self):
        """Returns the symbols of each file: first line, last line, name, depth."""
        found = {}

        def walk(symbols, depth, out):
            for symbol in symbols:
                out.append((symbol["start_line"], symbol["end_line"], symbol["name"], depth))
                walk(symbol.get("children", []), depth + 1, out)

        text = run(self.slop, "--project", str(self.folder), "outline", "--json", ok=(0, 1, 4))
        for file in map(json.loads, text.splitlines()):
            walk(file.get("symbols", []), 0, found.setdefault(file["path"], []))
        return found


def around(symbols, line):
    """Returns the names of the innermost and the outermost symbol around a line."""
    inside = [symbol for symbol in symbols if symbol[0] <= line <= symbol[1]]
    if not inside:
        return set()
    innermost = min(reversed(inside), key=lambda symbol: (symbol[1] - symbol[0], -symbol[3]))
    outermost = max(inside, key=lambda symbol: (symbol[1] - symbol[0], -symbol[3]))
    return {innermost[2], outermost[2]}


def touched(diff, old, new, old_text, new_text):
    """Returns the names of the symbols that the hunks of a diff without context touch."""
    names, sides = set(), (old_text.split(b"\n"), new_text.split(b"\n"))
    for match in HUNK.finditer(diff):
        start, count, new_start, new_count = (int(part) if part else 1 for part in match.groups())
        for symbols, lines, first, number in ((old, sides[0], start, count), (new, sides[1], new_start, new_count)):
            for line in range(first, first + number):
                if lines[line - 1].strip():
                    names |= around(symbols, line)
    return names


def tokens(slop, texts):
    """Returns the numbers of tokens of texts, as slop counts them in documents."""
    with tempfile.TemporaryDirectory() as folder:
        project = Project(slop, folder)
        project.write("slop.toml", b"[limits]\nmax_bytes = 100000000\n")
        # A block with a text of a single token shows the overhead of a block.
        for at, text in enumerate([b"x\n", *texts]):
            project.write(f"{at:04}.txt", text)
        answer = project.ask("aggregate", "--strategy", "full", "--order", "path", "--dry-run")
        found = {file["path"]: file["tokens"] for file in answer["receipt"]["files"]}
        return [found[f"{at:04}.txt"] - found["0000.txt"] + 1 for at in range(1, len(texts) + 1)]


def measure(slop, repository, commit, view, git):
    """Returns the texts of one commit and the symbols that the delta does not name; `None` if it changes no text."""
    status = git("diff", "--name-status", "-z", "-M", f"{commit}^", commit).split(b"\0")
    changed, others, at = [], 0, 0
    while at + 1 < len(status):
        kind, name = status[at][:1], status[at + 1]
        at += 3 if kind in b"RC" else 2
        if kind == b"M":
            changed.append(os.fsdecode(name))
        else:
            others += 1
    with tempfile.TemporaryDirectory() as folder:
        project = Project(slop, folder)
        old, new = {}, {}
        for name in changed:
            texts = [git("cat-file", "blob", f"{rev}:{name}", ok=(0, 128)) for rev in (f"{commit}^", commit)]
            if all(texts) and texts[0] != texts[1] and not any(b"\0" in text for text in texts):
                old[name], new[name] = texts
                project.write(name, texts[0])
        if not old:
            return None
        project.ask("aggregate", *view, "--stdout")
        old_outlines = project.outlines()
        for name, text in new.items():
            project.write(name, text)
        blocks = {file["path"]: file for file in project.ask("aggregate", *view, "--since-last", "--stdout")["files"]}
        new_outlines = project.outlines()
    diff, delta, missing, asked, silent = b"", b"", [], 0, []
    for name in old:
        if name not in blocks and not old_outlines.get(name) and name not in new_outlines:
            continue
        text = git("diff", f"{commit}^", commit, "--", f":(top,literal){name}")
        diff += text
        block = blocks.get(name)
        if block is None:
            silent.append(name)
            continue
        body = block["text"]
        head = f"### {name}\n{block['head']}\n\n```diff\n{body}```\n\n"
        delta += head.encode()
        bare = git("diff", "-U0", f"{commit}^", commit, "--", f":(top,literal){name}")
        names = touched(bare, old_outlines.get(name, []), new_outlines.get(name, []), old[name], new[name])
        asked += len(names)
        flat = " ".join(body.split())
        missing += [(name, symbol) for symbol in sorted(names) if " ".join(symbol.split())[:150] not in flat]
    return diff, b"## Files (Changed Since the Last Aggregation)\n\n" + delta, missing, asked, silent, others


def interval(pairs, statistic):
    random.seed(1)
    samples = sorted(statistic(random.choices(pairs, k=len(pairs))) for _ in range(2000))
    return samples[50], samples[1949]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("repositories", nargs="+")
    parser.add_argument("--commits", type=int, default=60)
    parser.add_argument("--slop", default=shutil.which("slop"))
    parser.add_argument("--tier")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    view = ("--tier", options.tier) if options.tier else ("--strategy", "full")
    print(f"{'repository':24} {'commits':>7} {'sum':>6}  {'mean':>6} {'95 %':>14}  {'median':>6}  {'named':>14}  silent")
    for repository in options.repositories:
        def git(*words, ok=(0,)):
            return run("git", "-C", repository, "-c", "core.quotePath=false", *words, ok=ok)

        log = git("log", "--no-merges", "--first-parent", "-n", "1200", "--format=%H").decode().split()[:-1]
        results = []
        for commit in log[:: max(1, len(log) // options.commits)]:
            if len(results) == options.commits:
                break
            result = measure(options.slop, repository, commit, view, git)
            if result and result[0]:
                results.append((commit, result))
        counts = tokens(options.slop, [text for _, result in results for text in result[:2]])
        pairs = list(zip(counts[::2], counts[1::2]))
        mean = lambda some: sum(a / b for a, b in some) / len(some)
        total = sum(a for a, _ in pairs) / sum(b for _, b in pairs)
        low, high = interval(pairs, mean)
        median = sorted(a / b for a, b in pairs)[len(pairs) // 2]
        asked = sum(result[3] for _, result in results)
        missing = [(commit, miss) for commit, result in results for miss in result[2]]
        silent = [(commit, name) for commit, result in results for name in result[4]]
        name = pathlib.Path(repository).parent.name or repository
        named = f"{asked - len(missing)}/{asked}"
        print(f"{name:24} {len(pairs):7} {total:6.2f}  {mean(pairs):6.2f} {low:6.2f}..{high:6.2f}  {median:6.2f}  {named:>14}  {len(silent)}", flush=True)
        if options.verbose:
            for commit, what in missing + silent:
                print("   ", commit[:10], what)


ENVIRONMENT = {**os.environ, "SLOP_CONFIG": os.devnull, "GIT_OPTIONAL_LOCKS": "0"}
if __name__ == "__main__":
    main()
