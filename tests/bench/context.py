#!/usr/bin/env python3
"""How much of the next edit a document contains: slop, aider's repository map, repomix, and whole files by BM25.

    context.py measure JUDGES --mirrors DIR [--slop BIN] [--repomix JS] [--only KINDS] [--commits OUT] [--issues OUT --data FILE]
    context.py report  JUDGES [--commits NAME=OUT]... [--issues NAME=OUT=DATA]... [--slop-label LABEL]

JUDGES has the two evaluation programs, `localise` (commits: which of the edited files are shown with a symbol) and
`issues` (which lines of an issue's fix are shown). Their READMEs describe how to prepare OUT and DATA; DIR has the
repositories with their history as OWNER+NAME/repo. `measure` stores every result in OUT and continues where an earlier
run ended; REPOS="OWNER+NAME ..." selects repositories. `report` prints the tables of docs/benchmarks-documents.md:
means over repositories (commits) or issues, with 95 % intervals (bootstrap), and the differences between slop and the
best of the others. Only commits that were measured with slop, aider and BM25 count (and with repomix, as far as
available).

Each program has the same limit in tokens of o200k_base. aider's map is given the names that the task mentions (or the
file in its chat). repomix takes no task: its output is cut at the limit. Whole files by BM25 are source files only,
ranked by the words of the task or of the file in focus, and cut at the limit.

Needs the dependencies of the evaluation programs, aider-chat, and node for repomix.
"""

import argparse
import collections
import glob
import importlib.util
import json
import math
import os
import subprocess
import sys
import time

BUDGETS = (8000, 32000)
SETTINGS = {"A": "nothing known", "B": "the commit's message as the task", "C": "one of the edited files in focus"}
ISSUE_BUDGET = 15000
SEED, ROUNDS = 1, 2000


def judge(folder, arguments):
    """Loads an evaluation program's run.py as a module; with these arguments, it does not measure by itself."""
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("judge_run", os.path.join(folder, "run.py"))
    module = importlib.util.module_from_spec(spec)
    before, sys.argv = sys.argv, ["run.py", *arguments]
    try:
        spec.loader.exec_module(module)
    finally:
        sys.argv = before
    return module


def keep(path, result):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w") as file:
        json.dump(result, file)
    os.replace(path + ".new", path)


# --- whole files by BM25, on commits


def bm25_order(words, lengths, query):
    """Returns the positions of the documents, best first."""
    mean = sum(lengths) / max(len(lengths), 1)
    with_term = {term: sum(term in of for of in words) for term in query}

    def score(at):
        total = 0.0
        for term, count in query.items():
            occurrences = words[at].get(term, 0)
            if occurrences:
                rarity = math.log(1 + (len(words) - with_term[term] + 0.5) / (with_term[term] + 0.5))
                norm = occurrences + 1.2 * (0.25 + 0.75 * lengths[at] / max(mean, 1))
                total += math.sqrt(min(count, 4)) * rarity * occurrences * 2.2 / norm
        return -total

    return sorted(range(len(words)), key=lambda at: (score(at), at))


def whole_files(common, repo, blobs, task):
    """Returns the scores of whole files, for the task's text and for the text of the file in focus."""
    tree = common.tree_of(repo, task["parent"])
    blobs.need(tree)
    paths = sorted(path for path in tree if tree[path] in blobs.known and common.is_source(path))
    results = {}
    for setting in "BC":
        skip = {task["focus"]} if setting == "C" else set()
        query = common.words(task["text"]) if setting == "B" else blobs.known[tree[task["focus"]]]["words"]
        shown = [path for path in paths if path not in skip]
        words = [blobs.known[tree[path]]["words"] for path in shown]
        start = time.process_time()
        order = bm25_order(words, [sum(of.values()) for of in words], query)
        spent = time.process_time() - start
        for budget in BUDGETS:
            text = ""
            for at in order:
                text += f"### {shown[at]}\n" + common.git(repo, "cat-file", "blob", tree[shown[at]]) + "\n"
                if budget * 6 < len(text) and budget <= common.tokens(text):
                    break
            text = common.cut(text, budget)
            blocks = text_blocks(text, set(shown))
            results[f"bm25/{setting}/{budget}"] = {
                "files": common.score(blocks, set(), task, skip),
                "tokens": common.tokens(text),
                "s": spent,
                "shown": len(blocks),
            }
    return results


def text_blocks(text, paths):
    blocks, at = {}, None
    for line in text.splitlines():
        if line.startswith("### ") and line[4:] in paths:
            at = line[4:]
            blocks[at] = []
        elif at:
            blocks[at].append(line)
    return {path: "\n".join(lines) for path, lines in blocks.items()}


def measure_commits(options):
    folder = os.path.join(options.judges, "localise")
    arguments = [
        options.commits,
        "--repos",
        options.mirrors,
        "--commits",
        str(options.count),
        "--minutes",
        str(options.minutes),
    ]
    arguments += [
        "--aider-every",
        "1",
        "--repomix-every",
        "1",
        "--step",
        "1",
        "--tiers",
        options.tier,
        "--label",
        options.slop_label,
    ]
    for kind in options.only:
        if kind != "bm25":
            tool = {"slop": ["--slop", options.slop], "repomix": ["--repomix", options.repomix]}.get(kind, [])
            script = [sys.executable, os.path.join(folder, "run.py")]
            subprocess.run([*script, *arguments, "--slop", options.slop, *tool, "--only", kind], check=True)
    if "bm25" in options.only:
        sys.path.insert(0, folder)
        import common

        for of_repo in sorted(glob.glob(f"{options.commits}/tasks/*.json")):
            name = os.path.basename(of_repo)[:-5]
            if os.environ.get("REPOS") and name not in os.environ["REPOS"].split():
                continue
            repo = os.path.join(options.mirrors, name, "repo")
            blobs = common.Blobs(repo, f"{options.commits}/blobs/{name}.pkl")
            for task in json.load(open(of_repo))[: options.count]:
                to = f"{options.commits}/runs/{name}/{task['sha'][:12]}.bm25.json"
                if not os.path.exists(to):
                    keep(to, whole_files(common, repo, blobs, task))


# --- issues: `issues` itself runs slop and BM25; aider and repomix are run here


def rival_document(runner, kind, tree, text):
    """Returns a program's output as blocks under headings, in the format of `issues`."""
    runner.BUDGETS = [ISSUE_BUDGET]
    # The runners parse the output into blocks and score them; here, the blocks themselves are needed.
    runner.score = lambda blocks, *_: blocks
    listed = subprocess.run(["git", "-C", tree, "ls-files", "-z"], capture_output=True, text=True).stdout
    paths = {path for path in listed.split("\0") if path}
    task = {"text": text, "focus": next(iter(sorted(paths))), "truth": {}}
    results = (runner.run_aider if kind == "aider" else runner.run_repomix)(task, tree, paths)
    blocks = results[f"{kind}/{'B' if kind == 'aider' else 'A'}/{ISSUE_BUDGET}"]["files"]
    plain = lambda body: "\n".join(line.lstrip("│⋮") for line in body.splitlines())
    return "\n".join(f"### {path}\n{plain(body)}" for path, body in blocks.items())


def measure_issues(options):
    folder = os.path.join(options.judges, "issues")
    if "slop" in options.only or "bm25" in options.only:
        wanted = [f"{options.slop_label} tier 3"] * ("slop" in options.only) + ["BM25"] * ("bm25" in options.only)
        command = [
            sys.executable,
            os.path.join(folder, "run.py"),
            "--slop",
            options.slop,
            "--mirrors",
            options.mirrors,
            "--data",
            options.data,
        ]
        command += [
            "--out",
            options.issues,
            "--tokens",
            "15000,32000",
            "--label",
            options.slop_label,
            "--contestants",
            ";".join(wanted),
        ]
        subprocess.run([*command, "--minutes", str(options.minutes)], check=True)
    rivals = [kind for kind in options.only if kind in ("aider", "repomix")]
    if not rivals:
        return
    arguments = [options.issues, "--commits", "0", "--slop", options.slop, "--repomix", options.repomix]
    runner = judge(os.path.join(options.judges, "localise"), arguments)
    sys.path.insert(0, folder)
    import features
    import lib

    end = time.time() + 60 * options.minutes
    for row in lib.load(options.data):
        truth = features.get(row, options.mirrors, options.issues)
        if truth is None or 8 < len(truth["gold"]) or 40 < int(truth["y"].sum()):
            continue
        for kind in rivals:
            to = f"{options.issues}/results/{row['instance_id']}/{kind}-{ISSUE_BUDGET}.json"
            if os.path.exists(to) or end < time.time():
                continue
            tree = os.path.abspath(f"{options.issues}/rivals/{row['repo'].replace('/', '+')}")
            if not os.path.isdir(tree):
                repo = lib.Repo(options.mirrors, row["repo"]).dir
                subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", repo, tree], check=True)
                with open(tree + "/.git/info/exclude", "a") as file:
                    file.write("\n.aider*\n")
            subprocess.run(["git", "-C", tree, "checkout", "-q", "-f", "--detach", row["base_commit"]], check=True)
            try:
                document = rival_document(runner, kind, tree, row["problem_statement"])
            except Exception as error:  # a failure in one project does not end the run
                print(row["instance_id"], kind, repr(error)[:200], file=sys.stderr)
                continue
            measured = lib.measure(document, truth["gold"], set(truth["tree"]))
            keep(
                to,
                {
                    **measured,
                    "tokens": lib.count(document),
                    "contestant": kind,
                    "budget": ISSUE_BUDGET,
                    "id": row["instance_id"],
                },
            )


# --- tables


def interval(groups):
    """Returns the mean of the means of groups, and its 95 % interval."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    groups = [np.array(values, float) for values in groups if len(values)]
    if not groups:
        return None
    sampled = np.mean([of[rng.integers(0, len(of), (ROUNDS, len(of)))].mean(1) for of in groups], axis=0)
    low, high = np.percentile(sampled, [2.5, 97.5])
    return float(np.mean([of.mean() for of in groups])), float(low), float(high)


def cell(of, sign=""):
    return "–" if of is None else f"{of[0]:{sign}.2f} [{of[1]:{sign}.2f}, {of[2]:{sign}.2f}]"


def commit_results(out):
    """Returns {contestant/setting/budget: {repository: {commit: share of its files that are shown with a symbol}}}."""
    results = collections.defaultdict(lambda: collections.defaultdict(dict))
    for path in sorted(glob.glob(f"{out}/runs/*/*.json")):
        repo, commit = path.split("/")[-2], os.path.basename(path)[:12]
        for key, result in json.load(open(path)).items():
            if result["files"]:
                shares = [file[1] for file in result["files"].values()]
                results[key][repo][commit] = sum(shares) / len(shares)
                if key.startswith("repomix/A/"):  # repomix takes no task
                    results[key.replace("/A/", "/B/")][repo][commit] = results[key][repo][commit]
    return results


def common_commits(results, names):
    """Returns the commits that all contestants were measured on, by setting and budget."""
    shared = {}
    for setting in SETTINGS:
        for budget in BUDGETS:
            have = [results[f"{name}/{setting}/{budget}"] for name in names if f"{name}/{setting}/{budget}" in results]
            repos = set.intersection(*(set(of) for of in have)) if have else set()
            shared[setting, budget] = {repo: set.intersection(*(set(of[repo]) for of in have)) for repo in sorted(repos)}
    return shared


def report_commits(name, out, label):
    results = commit_results(out)
    names = {
        label: f"slop, tier {label[-1]}",
        "aider": "aider's map",
        "bm25": "whole files by BM25",
        "repomix": "`repomix --compress`",
    }
    names = {key: title for key, title in names.items() if any(known.startswith(key + "/") for known in results)}
    if label not in names:
        sys.exit(f"{out} has no results of {label}: give --slop-label and --tier as they were when it was measured")
    # repomix may have been run on fewer commits.
    others = [key for key in names if key not in (label, "repomix")]
    shared = common_commits(results, [label, *others])
    everywhere = shared["A", BUDGETS[0]]
    print(f"\n{name}: {sum(map(len, everywhere.values()))} commits of {len(everywhere)} repositories\n")
    print("| | " + " | ".join(names.values()) + " | slop less the best |\n|---|" + "--:|" * (len(names) + 1))
    for (setting, budget), same in shared.items():
        values, cells = {}, []
        for key in names:
            of = results.get(f"{key}/{setting}/{budget}", {})
            values[key] = interval(
                [
                    [of[repo][commit] for commit in sorted(same[repo]) if commit in of[repo]]
                    for repo in of
                    if repo in same
                ]
            )
            cells.append(cell(values[key]))
        best = max((key for key in others if values[key]), key=lambda key: values[key][0], default=None)
        if best:
            own, of = results[f"{label}/{setting}/{budget}"], results[f"{best}/{setting}/{budget}"]
            cells.append(
                cell(
                    interval(
                        [[own[repo][commit] - of[repo][commit] for commit in sorted(same[repo])] for repo in same]
                    ),
                    "+",
                )
            )
        else:
            cells.append("–")
        print(f"| {SETTINGS[setting]}, {budget:,} | " + " | ".join(cells) + " |")
    if not others:
        return
    print(
        "\n| slop − the best of the others | "
        + " | ".join(f"{SETTINGS[s]}, {b:,}" for s, b in shared)
        + " |\n|---|"
        + "--:|" * len(shared)
    )
    for repo in sorted({repo for of in shared.values() for repo in of}):
        row = []
        for (setting, budget), same in shared.items():
            mean = lambda key: sum(results[f"{key}/{setting}/{budget}"][repo][commit] for commit in same[repo]) / len(
                same[repo]
            )
            known = [mean(key) for key in others if same.get(repo) and f"{key}/{setting}/{budget}" in results]
            row.append(f"{mean(label):.2f} − {max(known):.2f}" if known else "–")
        print(f"| {repo.split('+')[-1]} | " + " | ".join(row) + " |")


MEASURES = {"hunk": "hunk lines", "bodies": "bodies", "signatures": "signatures", "structure": "files with structure"}


def report_issues(name, out, data, label):
    wanted = {json.loads(line)["instance_id"] for line in open(data)}
    results = collections.defaultdict(dict)
    for path in glob.glob(f"{out}/results/*/*.json"):
        result = json.load(open(path))
        if result["id"] in wanted:
            results[result["budget"], result["contestant"]][result["id"]] = result
    titles = {
        f"{label} tier 3 --task-file": "slop, tier 3",
        "chunks, BM25 + said + path + frames": "functions by BM25, paths, names and traces",
        "chunks, BM25": "functions by BM25",
    }
    titles |= {
        "whole files, BM25": "whole files by BM25, cut",
        "aider": "aider's repository map",
        "repomix": "`repomix --compress`, cut",
        f"{label} tier 3 blind": "slop, tier 3, without the task",
    }
    own = f"{label} tier 3 --task-file"
    for budget in (ISSUE_BUDGET, 32000):  # only issues that all but aider and repomix were measured on
        have = [
            set(results[budget, key])
            for key in titles
            if results.get((budget, key)) and key not in ("aider", "repomix")
        ]
        shared = set.intersection(*have) if have else set()
        for key in titles:
            results[budget, key] = {
                issue: row for issue, row in results.get((budget, key), {}).items() if issue in shared
            }
    print(
        f"\n{name}: {len(results[ISSUE_BUDGET, own])} issues\n\n| | issues | "
        + " | ".join(MEASURES.values())
        + " | slop's hunk lines less |\n|---|--:|"
        + "--:|" * 5
    )
    for budget in (ISSUE_BUDGET, 32000):
        for key, title in titles.items():
            rows = results.get((budget, key), {})
            if not rows:
                continue
            mean = lambda measure: interval([[row[measure] for row in rows.values() if row[measure] is not None]])
            slop = results.get((budget, own), {})
            pairs = [
                slop[i]["hunk"] - rows[i]["hunk"]
                for i in sorted(rows)
                if i in slop and None not in (rows[i]["hunk"], slop[i]["hunk"])
            ]
            less = "" if key == own else cell(interval([pairs]), "+")
            print(
                f"| {budget:,}: {title} | {len(rows)} | "
                + " | ".join(cell(mean(measure)) for measure in MEASURES)
                + f" | {less} |"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("measure", "report"))
    parser.add_argument("judges")
    parser.add_argument("--mirrors", default="")
    parser.add_argument("--slop", default="slop")
    parser.add_argument("--slop-label", default="slop", help="the name of this binary's results")
    parser.add_argument("--repomix", default="")
    parser.add_argument("--only", type=str.split, default=["slop", "aider", "repomix", "bm25"])
    parser.add_argument("--tier", default="2")
    parser.add_argument("--count", type=int, default=8, help="commits of each repository")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--commits", action="append", default=[])
    parser.add_argument("--issues", action="append", default=[])
    parser.add_argument("--data", default="")
    options = parser.parse_args()
    if options.action == "report":
        for name, out in (one.split("=") for one in options.commits):
            report_commits(name, out, options.slop_label + options.tier)
        for name, out, data in (one.split("=") for one in options.issues):
            report_issues(name, out, data, options.slop_label)
        return
    commits, issues = options.commits, options.issues
    for options.commits in commits:
        measure_commits(options)
    for options.issues in issues:
        measure_issues(options)


if __name__ == "__main__":
    main()
