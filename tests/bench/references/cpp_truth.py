#!/usr/bin/env python3
"""Exports how libclang resolves the names of a C++ project, as reference data for references.

Usage: cpp_truth.py FOLDER [FLAG …] > truth.json      needs `pip install libclang`; compiler flags, relative to FOLDER

The output is described in scip_truth.py. Every source is parsed with the flags, and every folder with headers is in the
include path. Sources with a fatal error are left out, and so are lines that no source compiles and the bodies of
macros. Overloads are one symbol, and a constructor counts as its class. Members of values that depend on a template,
and all names that libclang does not mention, are null: not known.
"""
import ctypes, json, os, re, subprocess, sys
from collections import defaultdict
from pathlib import Path

from clang import cindex as c

K = c.CursorKind
FUNCTIONS = {K.FUNCTION_DECL, K.CXX_METHOD, K.FUNCTION_TEMPLATE, K.CONVERSION_FUNCTION, K.CONSTRUCTOR, K.DESTRUCTOR}
TYPES = {K.CLASS_DECL, K.STRUCT_DECL, K.UNION_DECL, K.CLASS_TEMPLATE, K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION, K.ENUM_DECL, K.TYPEDEF_DECL, K.TYPE_ALIAS_DECL, K.TYPE_ALIAS_TEMPLATE_DECL}
NAMES = {K.DECL_REF_EXPR, K.MEMBER_REF_EXPR, K.TYPE_REF, K.TEMPLATE_REF, K.OVERLOADED_DECL_REF, K.MEMBER_REF}
SCOPES = {K.NAMESPACE, K.LINKAGE_SPEC, K.UNEXPOSED_DECL}
WORD = re.compile(r"[A-Za-z_]\w*")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


class Ranges(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint), ("ranges", ctypes.POINTER(c.SourceRange))]


class Truth:
    def __init__(self, folder):
        self.folder, self.root = folder, str(folder) + os.sep
        self.defined, self.declared, self.uses = {}, {}, defaultdict(dict)
        self.skipped, self.seen, self.names, self.lines = {}, set(), {}, {}

    def inside(self, file):
        if file is None:
            return ""
        name = self.names.get(file.name)
        if name is None:
            full = os.path.realpath(file.name)
            name = self.names[file.name] = full[len(self.root) :] if full.startswith(self.root) else ""
        return name

    def read(self, source, flags):
        unit = c.Index.create().parse(str(source), args=flags, options=1)
        fatal = [d.spelling for d in unit.diagnostics if d.severity >= 4]
        if fatal:
            return fatal[0]
        stack = [(unit.cursor, True)]
        while stack:
            cursor, is_scope = stack.pop()
            for child in cursor.get_children():
                if is_scope:
                    place = self.inside(child.location.file)
                    if not place:
                        continue
                    key = (place, child.extent.start.offset, child.extent.end.offset)
                    if child.kind not in SCOPES:
                        if key in self.seen:
                            continue
                        self.seen.add(key)
                self.visit(child)
                stack.append((child, is_scope and child.kind in SCOPES))
        for file in [unit.get_file(unit.spelling)] + [i.include for i in unit.get_includes()]:
            place = self.inside(file)
            if place:
                found = c.conf.lib.clang_getSkippedRanges(unit, file)
                lines = set()
                for n in range(found.contents.count):
                    lines.update(range(found.contents.ranges[n].start.line, found.contents.ranges[n].end.line + 1))
                self.skipped[place] = self.skipped[place] & lines if place in self.skipped else lines

    def key(self, cursor):
        """The symbol that a declaration belongs to: its template, and the class of a constructor."""
        for _ in range(4):
            template = c.conf.lib.clang_getSpecializedCursorTemplate(cursor)
            if template is None or not template.get_usr():
                break
            cursor = template
        name = cursor.spelling.split("<")[0]
        parent = cursor.semantic_parent
        if parent is not None and name == parent.spelling.split("<")[0] and cursor.kind in FUNCTIONS:
            return self.key(parent)
        if cursor.kind not in FUNCTIONS or parent is None:
            return cursor.get_usr()
        # Overloads are one symbol. File-local symbols of different files are different.
        hidden = self.inside(cursor.location.file) if cursor.linkage == c.LinkageKind.INTERNAL else ""
        return f"{self.key(parent) if parent.kind in TYPES else parent.get_usr()}@{hidden}@{name}"

    def visit(self, cursor):
        kind = cursor.kind
        if kind in FUNCTIONS | TYPES:
            place = self.inside(cursor.location.file)
            parent = cursor.semantic_parent
            local = parent is not None and parent.kind in FUNCTIONS
            if place and cursor.spelling and not local:
                row = [cursor.extent.start.line, cursor.location.line, cursor.extent.end.line, cursor.spelling.split("<")[0], self.key(cursor)]
                table = self.defined if cursor.is_definition() or kind in (K.TYPEDEF_DECL, K.TYPE_ALIAS_DECL, K.TYPE_ALIAS_TEMPLATE_DECL) else self.declared
                table[(place, row[1], row[3])] = row
        if kind not in NAMES:
            return
        place, line, column = self.spelled(cursor)
        name = (WORD.findall(cursor.spelling) or [""])[-1] if kind != K.TYPE_REF else (WORD.findall(cursor.referenced.spelling.split("<")[0]) or [""])[-1]
        text = self.text(place, line)
        if not place or not name or text[column - 1 : column - 1 + len(name)] != name.encode():
            return
        if kind == K.OVERLOADED_DECL_REF:
            count = c.conf.lib.clang_getNumOverloadedDecls(cursor)
            targets = [c.conf.lib.clang_getOverloadedDecl(cursor, n) for n in range(count)]
        else:
            targets = [cursor.referenced] if cursor.referenced is not None else None
        keys = None if targets is None else sorted({self.key(t) for t in targets if t.kind in FUNCTIONS | TYPES})
        rest = text[column - 1 + len(name) :].lstrip()
        while rest[:1] == b"<" and re.match(rb"<[^()<>]*>\s*\(", rest):
            rest = re.sub(rb"^<[^()<>]*>\s*", b"", rest)
        old = self.uses[place].setdefault((line, column), [line, name, rest[:1] == b"(", keys])
        if old[3] != keys and keys:
            old[3] = sorted({*(old[3] or ()), *keys})

    def spelled(self, cursor):
        file, line, column = c.c_object_p(), ctypes.c_uint(), ctypes.c_uint()
        c.conf.lib.clang_getSpellingLocation(cursor.location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), None)
        return self.inside(c.File(file)) if file else "", line.value, column.value

    def text(self, place, line):
        if place and place not in self.lines:
            self.lines[place] = (self.folder / place).read_bytes().split(b"\n")
        rows = self.lines.get(place, ())
        return rows[line - 1] if 0 < line <= len(rows) else b""

    def result(self, note):
        known = {row[4] for row in self.defined.values()}
        rows = {**{k: r for k, r in self.declared.items() if r[4] not in known}, **self.defined}
        symbols, names = defaultdict(list), {row[3] for row in rows.values()}
        keys = {row[4] for row in rows.values()}
        for (place, _, _), row in rows.items():
            symbols[place].append(row)
        uses, imports = {}, {}
        for place in {*self.uses, *symbols}:
            text = (self.folder / place).read_text("utf-8", "replace")
            dark = set(self.skipped.get(place, ()))
            for m in DIRECTIVE.finditer(text):
                dark.update(range(text.count("\n", 0, m.start()) + 1, text.count("\n", 0, m.end()) + 2))
            imports[place] = sorted(dark)
            found = self.uses[place]
            for row in found.values():
                row[3] = None if row[3] is None else [k for k in row[3] if k in keys]
            heads = {(r[1], r[3]) for r in symbols[place]}
            blank = HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
            for n, line in enumerate(blank.split("\n"), 1):
                for m in WORD.finditer(line):
                    at = (n, len(line[: m.start()].encode()) + 1)
                    if m[0] in names and at not in found and (n, m[0]) not in heads:
                        found[at] = [n, m[0], line[m.end() :].lstrip()[:1] == "(", None]
            uses[place] = list(found.values())
        return {"symbols": symbols, "uses": uses, "imports": imports, "note": note}


def main():
    folder = Path(sys.argv[1]).resolve()
    lib = c.conf.lib
    lib.clang_getSkippedRanges.argtypes, lib.clang_getSkippedRanges.restype = [c.TranslationUnit, c.File], ctypes.POINTER(Ranges)
    lib.clang_getSpellingLocation.argtypes = [c.SourceLocation] + [ctypes.c_void_p] * 4
    listed = subprocess.run(["git", "-C", folder, "ls-files"], capture_output=True, text=True).stdout.split("\n")
    folders = sorted({os.path.dirname(p) for p in listed if p.endswith((".h", ".hpp", ".hh"))}, key=lambda d: (d.count("/"), d))
    gcc = subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True).stdout.strip()
    given = [f"-I{folder / flag[2:]}" if flag.startswith("-I") else flag for flag in sys.argv[2:]]
    flags = ["-xc++", *given, *(f"-I{folder / d}" for d in folders), "-idirafter", gcc, "-w", "-ferror-limit=0"]
    truth, failed = Truth(folder), 0
    sources = [p for p in listed if p.endswith((".cc", ".cpp", ".cxx"))]
    for n, source in enumerate(sources, 1):
        error = truth.read(folder / source, flags)
        failed += error is not None
        print(f"{n} of {len(sources)} {source} {error or ''}", file=sys.stderr)
    json.dump(truth.result(f"libclang, {len(sources) - failed} of {len(sources)} sources"), sys.stdout)


main()
