#!/usr/bin/env python3
"""Exports a SCIP index as reference data, with which the references of slop are compared.

Usage: scip_truth.py INDEX.scip FOLDER > truth.json

The indexes were made by `rust-analyzer scip .` and `scip-typescript index`, in FOLDER. The result has, by file, `symbols`
(first line, line of the name, last line, qualified name, key), `uses` (line, name, whether it is called, keys) and
`imports` (lines that are not judged). A use has no keys if it refers to a variable or another package, and `null`
instead of keys if the index does not resolve it:
  - a re-exported name, for which scip-typescript has a `local` symbol without a definition
  - a symbol of the project that the index does not define, as in a module that two crates include
  - a name without an occurrence in the index, such as a member of a value whose type the tool does not know
Functions, methods and types can be targets, and so can `const f = () =>` at the top level of a file, but not variants
of enums. Methods of object literals that implement a type do not count as called, although scip-typescript has a use
there.
"""
import json, re, sys
from collections import defaultdict
from pathlib import Path

TARGET = re.compile(r"(?:\([^()]*\)\.|[ /][^#/ ]+#)$")
ARROW = re.compile(r"[\w$]+\s*(?::[^=]*?(?:=>[^=]*?)*)?=\s*(?:async\s*)?(?:function\b|(?:<[^=]*?>\s*)?\([^;{]*?=>|[\w$]+\s*=>)")
IMPORTS = re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?use\s[^;]*;|^[ \t]*(?:import|export)\b[^;'\"`()=]*?\bfrom\s*['\"]|^[ \t]*import\s*['\"(]", re.M)
NAME = re.compile(r"(?:r?#)?[A-Za-z_$][\w$]*")
NAME_OF = re.compile(r"[A-Za-z_$][\w$]*")
HIDDEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def message(data):
    """The fields of a message of protocol buffers, as lists by their numbers."""
    found, at = defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at : at + value], at + value
        found[tag >> 3].append(value)
    return found


def numbers(data):
    found, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


def one(fields, number, default=b""):
    return fields[number][0] if fields[number] else default


class Document:
    def __init__(self, fields, folder):
        self.path = one(fields, 1).decode()
        self.text = (folder / self.path).read_text("utf-8", "replace")
        self.lines = self.text.split("\n")
        # 1 is UTF-8; scip-typescript does not specify its encoding, and counts UTF-16.
        self.encoding, self.unit = ("utf-8", 1) if one(fields, 6, 0) == 1 else ("utf-16-le", 2)
        self.occurrences = []
        for data in fields[2]:
            occurrence = message(data)
            span = numbers(one(occurrence, 1))
            symbol = one(occurrence, 2).decode().replace("`<constructor>`().", "")
            self.occurrences.append((span, symbol, one(occurrence, 3, 0) & 1, numbers(one(occurrence, 7))))
        self.defined = {symbol for _, symbol, defines, _ in self.occurrences if defines}

    def cut(self, line, start, end=None):
        if len(self.lines) <= line:
            return ""
        raw = self.lines[line].encode(self.encoding)
        return raw[start * self.unit : None if end is None else end * self.unit].decode(self.encoding, "replace")

    def unsaid(self, names, said):
        """Rows of the names without an occurrence in the index, such as members of values of unknown type."""
        blank = HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), self.text)
        for line, text in enumerate(blank.split("\n")):
            for m in NAME_OF.finditer(text):
                start = len(text[: m.start()].encode(self.encoding)) // self.unit
                if m[0] in names and (line, start) not in said:
                    yield [line + 1, m[0], text[m.end() :].lstrip()[:1] == "(", None]

    def is_target(self, span, symbol):
        if TARGET.search(symbol):
            return True
        rest = self.cut(span[0], span[1]) + "\n" + "\n".join(self.lines[span[0] + 1 : span[0] + 12])
        return bool(re.search(r"/[^/#]+\.$", symbol) and ARROW.match(rest))

    def is_method(self, span):
        """Whether a name is that of a method definition in an object literal, and not a call."""
        if not re.fullmatch(r"\s*(?:async\s+)?\*?", self.cut(span[0], 0, span[1])):
            return False
        rest = self.cut(span[0], span[-1]) + "\n" + "\n".join(self.lines[span[0] + 1 : span[0] + 40])
        depth = 0
        for at, byte in enumerate(rest):
            depth += (byte == "(") - (byte == ")")
            if byte == ")" and depth == 0:
                return rest[at + 1 :].lstrip()[:1] in ("{", ":")
        return False


def main():
    folder = Path(sys.argv[2])
    documents = [Document(message(data), folder) for data in message(Path(sys.argv[1]).read_bytes())[2]
                 if (folder / one(message(data), 1).decode()).is_file()]
    targets, everything, packages = set(), set(), set()
    for document in documents:
        everything |= document.defined
        packages |= {" ".join(symbol.split(" ")[:4]) for symbol in document.defined if not symbol.startswith("local ")}
        targets |= {symbol for span, symbol, defines, _ in document.occurrences if defines and document.is_target(span, symbol)}
    names = {(NAME_OF.findall(symbol) or [""])[-1] for symbol in targets}
    symbols, uses, imports = {}, {}, {}
    for document in documents:
        path, rows, found = document.path, [], {}
        heads = {tuple(span) for span, _, defines, _ in document.occurrences if defines}
        for span, symbol, defines, around in document.occurrences:
            line, start, end = span[0], span[1], span[-1]
            if defines:
                if symbol in targets:
                    first, last = (around[0], around[2]) if len(around) == 4 else (line, line)
                    rows.append([min(first, line) + 1, line + 1, last + 1, re.sub(r"^.*[/ ]", "", symbol), symbol])
                continue
            word = document.cut(line, start, end)
            if len(span) == 4 or tuple(span) in heads or not NAME.fullmatch(word):
                continue
            if symbol in targets:
                keys = [symbol]
            elif symbol.startswith("local "):
                keys = [] if symbol in document.defined else None
            else:
                keys = [] if symbol in everything or " ".join(symbol.split(" ")[:4]) not in packages else None
            after = re.sub(r"^(?:::)?<[^()]*?>\(", "(", document.cut(line, end).lstrip())
            called = after[:1] == "(" and not document.is_method(span)
            old = found.setdefault(tuple(span), [line + 1, (re.findall(r"[A-Za-z_]\w*", word) or [word])[-1], called, keys])
            if old[3] != keys:  # A name that is a type and a value.
                old[3] = sorted({*(old[3] or ()), *(keys or ())})
        for row in document.unsaid(names, {(span[0], span[1]) for span in [*found, *heads]}):
            found[tuple(row)] = row
        symbols[path], uses[path] = rows, list(found.values())
        imports[path] = sorted({n for m in IMPORTS.finditer(document.text)
                                for n in range(document.text.count("\n", 0, m.start()) + 1, document.text.count("\n", 0, m.end()) + 2)})
    json.dump({"symbols": symbols, "uses": uses, "imports": imports, "note": f"{len(documents)} files of the index"}, sys.stdout)


main()
