#!/usr/bin/env python3
"""Exports the links of rustdoc's source pages, as reference data for references.

Usage: rustdoc_truth.py FOLDER DOC > truth.json

FOLDER is a checkout, and DOC the `doc` folder that `cargo +nightly doc --no-deps --workspace` wrote with
RUSTDOCFLAGS="-Zunstable-options --generate-link-to-definition --document-private-items". The output is described in
scip_truth.py. Only code that is compiled for the documentation has links: no tests, and no bodies of macros. Names
without a link are null: not known. A trait method counts as each of its implementations in the project, because the
pages link only to the trait; methods of traits of other crates are null, and so are re-exports.
"""
import html, json, os, re, subprocess, sys
from collections import defaultdict
from pathlib import Path

HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\(?:u\{\w+\}|x\w\w|.)|[^\\\'\n])\'', re.S)
HEAD = re.compile(r"\b(fn|struct|enum|trait|union|type|impl|mod)\b\s*(?:r#)?(\w*)")
USE = re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?use\s[^;]*;", re.M)
WORD = re.compile(r"[A-Za-z_]\w*")
TAG = re.compile(r"<a href=#\d+ id=\d+ data-nosnippet>\d+</a>|<a [^>]*?href=\"([^\"]*)\"[^>]*>|</a>|<[^>]*>")


def without_parameters(head):
    """The head of an implementation without `impl<…>`."""
    head = head[len("impl") :].lstrip()
    depth = 0
    for at, byte in enumerate(head):
        depth += (byte == "<") - (byte == ">" and head[at - 1] != "-")
        if depth == 0:
            return head[at + 1 :] if byte == ">" else head
    return head


def definitions(path, text):
    """Rows of symbols; (trait, name) of methods of traits and of their implementations, by key."""
    blank = HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    line = [0]
    for byte in blank:
        line.append(line[-1] + (byte == "\n"))
    rows, of_trait, stack, at = [], {}, [], 0
    for m in HEAD.finditer(blank):
        kind, name, start = m[1], m[2], m.start()
        while stack and stack[-1][0] <= start:
            stack.pop()
        depth, end, angle = 0, start, None
        for end in range(m.end(), len(blank)):
            byte = blank[end]
            if byte in "([":
                depth += 1
            elif byte in ")]":
                depth -= 1
                if depth < 0:
                    break
            elif byte == ";" and depth == 0 or byte in "{}" and depth == 0:
                break
        if end < len(blank) and blank[end] == "{" and not (kind == "type"):
            level = 0
            for end in range(end, len(blank)):
                level += (blank[end] == "{") - (blank[end] == "}")
                if level == 0:
                    break
        elif depth < 0:
            continue
        if kind == "impl":
            head = blank[start : blank.find("{", start)] if "{" in blank[start:end + 1] else blank[start:end]
            bare = without_parameters(head)
            trait = re.search(r"(\w+)(?:<[^{]*?>)?\s+for\s(?!\s*<)", bare)
            owner = re.search(r"for\s+.*?(\w+)\s*(?:<.*)?(?:where.*)?$" if trait else r"\s*&?(?:\w+::)*(\w+)", bare.strip(), re.S)
            if not re.match(r"impl\b[^;{]*\{", blank[start:]) or re.match(r"[ \t]*(?:unsafe\s+|default\s+)?impl", blank[blank.rfind("\n", 0, start) + 1 :]) is None:
                continue
            stack.append((end, owner[1] if owner else "?", trait[1] if trait else None, False))
            continue
        if not name:
            continue
        qualified = ".".join([s[1] for s in stack] + [name])
        key = f"{path}:{line[start] + 1}:{name}"
        first = line[start] + 1
        while first > 1 and re.match(r"\s*(?:#\[|\)\]|pub\b|const\b|unsafe\b|async\b|extern\b)", LINES[path][first - 2]):
            first -= 1
        if kind != "mod":
            rows.append([first, line[m.start(2)] + 1, line[end] + 1, qualified, key])
        if kind == "fn" and stack and stack[-1][2]:
            of_trait[key] = (stack[-1][2], name)
        stack.append((end, name, name if kind == "trait" else None, kind == "trait"))
    return rows, of_trait, blank


LINES = {}


def main():
    folder, doc = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    listed = subprocess.run(["git", "-C", folder, "ls-files", "*.rs"], capture_output=True, text=True).stdout.split()
    symbols, uses, imports, by_trait, traits, blanks = {}, {}, {}, defaultdict(set), {}, {}
    for path in listed:
        text = (folder / path).read_text("utf-8", "replace")
        LINES[path] = text.split("\n")
        symbols[path], found, blanks[path] = definitions(path, text)
        traits.update(found)
        for key, pair in found.items():
            by_trait[pair].add(key)
    implemented = {name for trait, name in by_trait}
    names = {row[3].split(".")[-1] for rows in symbols.values() for row in rows}
    pages = {}
    texts = {"\n".join(lines): path for path, lines in LINES.items()}
    raw = {}
    for page in (doc / "src").rglob("*.html"):
        found = page.read_text("utf-8")
        start = found.find("<code>", found.find('class="rust"')) + 6
        body = found[start : found.rfind("</code>")]
        plain = html.unescape(TAG.sub("", body))
        path = texts.get(plain) or texts.get(plain + "\n") or texts.get(plain.rstrip("\n") + "\n")
        if path:
            raw[page.resolve()], pages[page.resolve()] = body, path
    for page, path in pages.items():
        links, at, line, column, href, opened = {}, 0, 1, 0, None, None
        body = raw[page]
        for m in [*TAG.finditer(body), None]:
            piece = html.unescape(body[at : m.start() if m else len(body)])
            if href is not None and piece:
                word = piece.strip()
                if WORD.fullmatch(word):
                    links[(line, column)] = (word, href)
            if "\n" in piece:
                line += piece.count("\n")
                column = len(piece) - piece.rfind("\n") - 1
            else:
                column += len(piece)
            if m is None:
                break
            if m[1] is not None:
                href = html.unescape(m[1])
            elif m[0] == "</a>":
                href = None
            at = m.end()
        rows = []
        heads = {(r[1], r[3].split(".")[-1]) for r in symbols[path]}
        for n, text in enumerate(blanks[path].split("\n"), 1):
            for m in WORD.finditer(text):
                called = bool(re.match(r"\s*(?:::\s*<[^()]*?>\s*)?\(", text[m.end() :]))
                found = links.get((n, m.start()))
                if found is None:
                    if m[0] in names and (n, m[0]) not in heads:
                        rows.append([n, m[0], called, None])
                    continue
                word, href = found
                keys, target, place = [], None, ""
                if not href.startswith("http"):
                    place, _, span = href.partition("#")
                    to = pages.get((page.parent / place).resolve()) if place else path
                    if to is None and not place.endswith(".rs.html"):
                        keys = None  # the page of a re-export, which does not tell where the item is defined
                    first, _, last = span.partition("-")
                    if to and first.isdigit():
                        low, high = int(first), int(last or first)
                        target = next((r for r in sorted(symbols[to], key=lambda r: r[1]) if low <= r[1] <= high and r[3].split(".")[-1] == word), None)
                elif word in implemented or not ("doc.rust-lang.org" in href or place.endswith(".rs.html") or href.startswith("#")):
                    keys = None  # a method of a trait of another project, which a type of this project may implement
                if target:
                    keys = sorted({target[4], *by_trait.get(traits.get(target[4]), ())})
                rows.append([n, word, called, keys])
        uses[path] = rows
        text = "\n".join(LINES[path])
        imports[path] = sorted({n for m in USE.finditer(text) for n in range(text.count("\n", 0, m.start()) + 1, text.count("\n", 0, m.end()) + 2)})
    json.dump({"symbols": symbols, "uses": uses, "imports": imports, "note": f"rustdoc, {len(pages)} pages"}, sys.stdout)


main()
