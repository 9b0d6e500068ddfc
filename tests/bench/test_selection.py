"""Compares `slop impact --tests` with the tests that ran the code.

    test_selection.py SLOP PROJECT COVERAGE [--under src/] [--seed 1]

COVERAGE is a file that coverage.py wrote with a context for each test, as by

    pytest --cov=src --cov-context=test        (pytest-cov)

It must not be at PROJECT/.coverage, where slop would use it. For each function below `--under` that a test ran, the
tests that ran its body are the reference. A parametrized test counts once, and so does a test class that another file
imports, which pytest runs again there. slop's list for the function is cut

  of the function    at twice the number of tests that coverage names for this function
  of the project     at twice the mean share of tests that coverage names for a function

and recall is the share of the reference tests before the cut. `best` is the recall of a perfect order. The intervals
are from a bootstrap over functions. Without the module `coverage`, a message is printed, and the exit code is 77.
"""

import argparse
import ast
import functools
import json
import os
import random
import re
import statistics
import subprocess
import sys

try:
    from coverage import CoverageData
except ImportError:
    print("skipped: needs the module `coverage` (pip install coverage)", file=sys.stderr)
    sys.exit(77)


def test_of(context):
    """`tests/test_a.py::TestA::test_b[1]|run` as `tests/test_a.py:TestA.test_b`."""
    path, *names = re.split(r"[\[|]", context, maxsplit=1)[0].split("::")
    return f"{path}:{'.'.join(names)}" if names else None


def is_imported(project, test):
    """Whether a test is in a class that its file does not define."""
    path, names = test.split(":", 1)
    return "." in names and names.split(".")[0] not in classes(os.path.join(project, path))


@functools.cache
def classes(path):
    with open(path, encoding="utf-8") as file:
        return {node.name for node in ast.walk(ast.parse(file.read())) if isinstance(node, ast.ClassDef)}


def functions(path):
    """The functions of a file that are not nested in another, with the lines of their bodies."""

    def visit(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield prefix + child.name, range(child.body[0].lineno, child.end_lineno + 1)
            elif isinstance(child, ast.ClassDef):
                yield from visit(child, f"{prefix}{child.name}.")
            else:
                yield from visit(child, prefix)

    with open(path, encoding="utf-8") as file:
        return list(visit(ast.parse(file.read()), ""))


def read_truth(project, coverage, under):
    data = CoverageData(coverage)
    data.read()
    tests = {test_of(context) for context in data.measured_contexts()} - {None}
    tests = {test for test in tests if not is_imported(project, test)}
    truth = {}
    for path in sorted(data.measured_files()):
        relative = os.path.relpath(path, os.path.abspath(project))
        if not relative.startswith(under):
            continue
        contexts = data.contexts_by_lineno(path)
        for name, lines in functions(path):
            ran = {test_of(context) for line in lines for context in contexts.get(line, ())} & tests
            if ran:
                truth.setdefault(f"{relative}:{name}", set()).update(ran)
    return sorted(tests), truth


def selected(slop, project, symbol, tests):
    command = [slop, "--project", project, "impact", "--tests", "--json", "--no-daemon", symbol]
    ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if ran.returncode not in (0, 4):
        return []
    order = []
    for row in json.loads(ran.stdout)["data"]["affected"]:
        if row["symbol"]:
            order.append(f"{row['path']}:{row['symbol']}")
        else:
            order.extend(test for test in tests if test.startswith(row["path"] + ":"))
    known = set(tests)
    return list(dict.fromkeys(test for test in order if test in known))


def interval(values):
    means = sorted(statistics.fmean(random.choices(values, k=len(values))) for _ in range(1000))
    return f"{statistics.fmean(values):.3f} [{means[25]:.3f} {means[974]:.3f}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("slop")
    parser.add_argument("project")
    parser.add_argument("coverage")
    parser.add_argument("--under", default="src/")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if not os.path.exists(arguments.coverage):
        print(f"skipped: no coverage file {arguments.coverage}", file=sys.stderr)
        sys.exit(77)
    random.seed(arguments.seed)
    tests, truth = read_truth(arguments.project, arguments.coverage, arguments.under)
    if not truth:
        print("skipped: the coverage file has no contexts of tests (--cov-context=test)", file=sys.stderr)
        sys.exit(77)
    share = statistics.fmean(len(ran) for ran in truth.values()) / len(tests)
    of_project = round(2 * share * len(tests))
    recalls = {"of the function": [], "of the project": [], "of the project, best": [], "whole list": []}
    lengths = []
    for symbol, ran in sorted(truth.items()):
        order = selected(arguments.slop, arguments.project, symbol, tests)
        lengths.append(len(order))
        for name, cut in [("of the function", 2 * len(ran)), ("of the project", of_project)]:
            recalls[name].append(len(ran & set(order[:cut])) / len(ran))
        recalls["of the project, best"].append(min(1, of_project / len(ran)))
        recalls["whole list"].append(len(ran & set(order)) / len(ran))
    print(f"{len(tests)} tests, {len(truth)} functions; coverage names {share:.3f} of the tests")
    print(f"slop lists {statistics.fmean(lengths) / len(tests):.3f} of the tests")
    for name, values in recalls.items():
        print(f"recall, {name}: {interval(values)}")


main()
