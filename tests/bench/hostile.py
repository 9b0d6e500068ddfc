#!/usr/bin/env python3
"""Measures processor time and peak memory of slop on files of one repeated token, in every language.

In a token, § is replaced by the number of the repetition, which makes names distinct.

    tests/bench/hostile.py --slop target/release/slop [--bytes 1000000] [--language go …] [--token '"' …]

Each file is the only one of its project: slop indexes it, shows its skeleton, and makes a document for a task. The goal
is 2 s of processor time and 256 MB for a file of 1 MB. Files that exceed it are listed, the most expensive first, and
the exit code is 1 if there are any. Even processor time is higher on a busy machine.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = {
    "c": "a.c", "cmake": "CMakeLists.txt", "cpp": "a.cc", "csharp": "a.cs", "css": "a.css", "dockerfile": "Dockerfile",
    "go": "a.go", "html": "a.html", "java": "a.java", "javascript": "a.js", "json": "a.json", "kotlin": "a.kt",
    "lua": "a.lua", "makefile": "Makefile", "markdown": "a.md", "notebook": "a.ipynb", "php": "a.php",
    "protobuf": "a.proto", "python": "a.py", "ruby": "a.rb", "rust": "a.rs", "scala": "a.scala", "shell": "a.sh",
    "sql": "a.sql", "swift": "a.swift", "text": "a.txt", "toml": "a.toml", "tsx": "a.tsx", "typescript": "a.ts",
    "yaml": "a.yaml", "zig": "a.zig",
}
TOKENS = [
    '"', "'", "`", '"""', "'''", "(", ")", "[", "]", "{", "}", "<", ">", "</", "<!--", "/*", "*/", "//", "#", "#{", "${",
    "{{", "\\", "\\\n", "=", "==", "=>", "->", ":", "::", ";", ",", ".", "*", "&", "|", "!", "?", "@", "$", "%", "-", "--",
    "- ", "~", "^", "_", "a", "a ", "a\n", "a.", "a(", "a::", "a<", "a=", "a: ", "0", "1,", "\t", "\n", " ", "\r", "\0",
    "é", "if ", "if(a)", "else ", "else if ", "elif a:\n", "end ", "begin ", "do ", "case ", "fn a() {", "def a():\n ",
    "class A {", "class a\n", "struct ", "namespace a {", "template<", "#if a\n", "#define a a\n", "import a\n",
    "select (", "lambda ", "not ", "<<a\n", "*/\n<A\n", "<a>", "<?php ", "```\n", "> ", "| a ", "* ", "[a](", "[[a]]\n", "a = [", "key: &a\n",
    "def a§():pass\n", "class a§ {}\n", "class a§\n", "function a§(){}\n", "int a§;\n", "a§: 1\n", "import a§\n",
    "return ", "async ", "await ", "1+", "a?b:", "f(", "$(", "<(", "\\(", "r#\"", "//!\n", "password = \"hunter2\"\n",
]


def run(slop, folder, *command):
    """Runs slop, and returns its processor time in seconds, its peak memory in MB and its exit code."""
    process = subprocess.Popen(
        [slop, *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(folder)
    )
    _, status, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def environment(folder):
    return {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "SLOP_NO_DAEMON": "1"}


def repeated(token, size):
    """Returns the bytes of a token, repeated up to a size."""
    if "§" not in token:
        encoded = token.encode()
        return encoded * (size // len(encoded))
    text = "".join(token.replace("§", str(number)) for number in range(size // len(token)))
    return text.encode()[:size]


def measure(slop, name, text):
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "project")
        folder.mkdir()
        (folder / name).write_bytes(text)
        steps = [
            run(slop, folder, "index"),
            run(slop, folder, "view", "--mode", "skeleton", name),
            run(slop, folder, "aggregate", "--task", "fix the parser", "--budget", "4000"),
        ]
    return max(step[0] for step in steps), max(step[1] for step in steps), [step[2] for step in steps]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slop", required=True, type=os.path.abspath)
    parser.add_argument("--bytes", type=int, default=1_000_000)
    parser.add_argument("--language", action="append", choices=sorted(NAMES))
    parser.add_argument("--token", action="append")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--megabytes", type=float, default=256.0)
    options = parser.parse_args()
    above = []
    worst_time = worst_memory = 0.0
    count = 0
    for language in options.language or NAMES:
        for token in options.token or TOKENS:
            text = repeated(token, options.bytes)
            seconds, megabytes, codes = measure(options.slop, NAMES[language], text)
            count += 1
            worst_time, worst_memory = max(worst_time, seconds), max(worst_memory, megabytes)
            failed = any(code not in (0, 1, 4) for code in codes)
            if options.seconds < seconds or options.megabytes < megabytes or failed:
                above.append((seconds, megabytes, language, token, codes))
                print(f"{seconds:6.2f} s {megabytes:5.0f} MB  {language:10} {token!r} {codes}", flush=True)
    above.sort(reverse=True)
    print(f"{count} files of {options.bytes} bytes: at most {worst_time:.2f} s and {worst_memory:.0f} MB; {len(above)} above the goal")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
