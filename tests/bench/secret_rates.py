#!/usr/bin/env python3
"""Measures how many secrets slop redacts, on the test values of other scanners.

    git clone https://github.com/gitleaks/gitleaks            # and trufflesecurity/trufflehog, Yelp/detect-secrets
    tests/bench/secret_rates.py --slop target/release/slop --set gitleaks=./gitleaks --set trufflehog=./trufflehog \\
        --set detect-secrets=./detect-secrets --project ./cpython --project ./redis

Each text of a set is written to separate files: in a program, in prose and in settings. A value counts as redacted if
no view of its file has it. A false positive is a file with any redaction whose text is harmless according to the set,
or that belongs to a project. Many harmless examples are generated values that no rule of that scanner accepts, mostly
because of their length, or values that the set itself calls a secret in another text. Files in which only such values
are redacted are counted separately.
"""

import argparse
import collections
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from secret_sets import READERS

CARRIERS = {
    "program": ("py", "import os\n\nLIMIT = 3\n\n", "\n\ndef main():\n    return LIMIT\n"),
    "prose": ("md", "# Setup\n\nRun the service as follows.\n\n", "\n\nThen start it again.\n"),
    "settings": ("conf", "[server]\nhost = localhost\n", "\nport = 8080\n"),
}
VIEWS = ["full", "skeleton", "summary", "outline"]
MARK = re.compile(r"\(redacted:([a-z0-9-]+)\)")
SHOWN_AT_ONCE = 4000


class Planted:
    """An example in a file."""

    def __init__(self, example, carrier, name, text):
        self.example, self.carrier, self.name, self.text = example, carrier, name, text
        self.shown = ""

    def is_held_back(self):
        if self.example.value:
            return self.example.value not in self.shown
        # The set does not specify which part is the secret.
        return MARK.search(self.shown) is not None

    def is_altered(self):
        return MARK.search(self.shown) is not None

    def redacted_values(self):
        """Returns the texts that the placeholders replace."""
        pieces = re.split(r"\(redacted:[a-z0-9-]+\)\n*", self.shown)
        at, values = len(pieces[0]), []
        for piece in pieces[1:]:
            end = self.text.find(piece, at) if piece else len(self.text)
            values.append(self.text[at:end])
            at = end + len(piece)
        return values

    def is_altered_for_more_than_keys(self, secrets):
        """Returns whether anything is redacted except generated values and secrets of the set's other texts."""
        values = (value.strip().strip(";") for value in self.redacted_values())
        return any(value not in secrets and not looks_generated(value) for value in values)


def looks_generated(value):
    """Returns whether a text looks like a key except for its length: no words, many different characters."""
    value = value.strip()
    classes = sum(any(test(c) for c in value) for test in (str.islower, str.isupper, str.isdigit))
    counts = collections.Counter(value).values()
    entropy = -sum(n / len(value) * math.log2(n / len(value)) for n in counts)
    is_mixed = classes >= 2 and any(c.isdigit() for c in value) or classes == 2 and len(value) >= 16
    return len(value) >= 12 and not re.search(r"\s", value) and is_mixed and entropy >= 3


def planted(examples):
    for number, example in enumerate(examples):
        for carrier, (extension, before, after) in CARRIERS.items():
            extension = example.extension if carrier == "program" and example.extension else extension
            name = f"{number // 500:03}/{number:05}_{carrier}.{extension}"
            yield Planted(example, carrier, name, before + example.text + after)


def show_all(slop, files, views=("full",)):
    """Adds to each file the text that the views show of it."""
    for start in range(0, len(files), SHOWN_AT_ONCE):
        some = files[start : start + SHOWN_AT_ONCE]
        with tempfile.TemporaryDirectory() as folder:
            for file in some:
                path = Path(folder, file.name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(file.text, encoding="utf-8", newline="")
            for view in views:
                shown = shown_texts(slop, folder, view)
                for file in some:
                    file.shown += shown.get(file.name, "")


def shown_texts(slop, folder, view):
    """Returns what a view shows of each file of a folder."""
    command = [slop, "--project", folder, "--no-daemon", "view", ".", "--mode", view, "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 4):
        sys.exit(f"{' '.join(command)}: {ran.stderr}")
    return {row["path"]: row["text"] for row in json.loads(ran.stdout)["data"]}


def percent(part, whole):
    return f"{100 * part / whole:5.1f} % of {whole}" if whole else "none"


def table(title, files, key):
    counts = collections.defaultdict(lambda: [0, 0])
    for file in files:
        counts[key(file)][0] += file.is_held_back()
        counts[key(file)][1] += 1
    print(f"\n{title}")
    for name, (held, whole) in sorted(counts.items(), key=lambda row: (row[1][0] / row[1][1], row[0])):
        print(f"  {percent(held, whole):>20}  {name}")


def report_set(name, files, options):
    secret = [file for file in files if file.example.is_secret]
    harmless = [file for file in files if not file.example.is_secret]
    held = sum(file.is_held_back() for file in secret)
    altered = [file for file in harmless if file.is_altered()]
    secrets = {file.example.value for file in secret}
    false = [file for file in altered if file.is_altered_for_more_than_keys(secrets)]
    print(f"\n== {name}: held back {percent(held, len(secret))}")
    alike = len(altered) - len(false)
    print(f"harmless examples redacted: {percent(alike, len(harmless))} for generated values, {percent(len(false), len(harmless))} for more than that")
    table("by notation", secret, lambda file: file.example.notation)
    table("by kind of file", secret, lambda file: file.carrier)
    if options.rules:
        table("by rule", secret, lambda file: file.example.rule)
    if options.missed:
        for file in secret:
            if not file.is_held_back():
                print(f"MISSED {file.example.rule} {file.carrier} {file.example.text!r}")
        for file in altered:
            rules = ",".join(sorted(set(MARK.findall(file.shown))))
            kind = "FALSE" if file in false else "GENERATED"
            print(f"{kind} {file.example.rule} {file.carrier} {rules} {file.example.text!r}")


def report_project(slop, folder):
    shown = shown_texts(slop, folder, "full")
    # A project may contain the placeholder itself, as slop does.
    texts = {path: (Path(folder) / path).read_text(encoding="utf-8", errors="replace") for path in shown}
    hits = [path for path, text in shown.items() if len(MARK.findall(text)) > len(MARK.findall(texts[path]))]
    rules = collections.Counter(rule for path in hits for rule in set(MARK.findall(shown[path])))
    print(f"{folder}: redacted in {percent(len(hits), len(shown))} files: {dict(rules)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slop", required=True, help="the program to measure")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=FOLDER", help=", ".join(READERS))
    parser.add_argument("--project", action="append", default=[], metavar="FOLDER", help="a project without secrets")
    parser.add_argument("--rules", action="store_true", help="print the rates by rule")
    parser.add_argument("--missed", action="store_true", help="print what is missed (it contains the sets' values)")
    parser.add_argument("--views", default="full", help=f"comma-separated, of {', '.join(VIEWS)}")
    options = parser.parse_args()
    for word in options.set:
        name, folder = word.split("=", 1)
        files = list(planted(READERS[name](folder)))
        show_all(options.slop, files, options.views.split(","))
        report_set(name, files, options)
    for folder in options.project:
        report_project(options.slop, folder)


if __name__ == "__main__":
    main()
