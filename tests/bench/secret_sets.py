"""Reads the test values of public secret scanners: secrets with their rules, and harmless examples.

Knows the test formats of gitleaks, betterleaks, trufflehog and detect-secrets. Contains none of their values; each
reader takes the folder of a checkout. `secret_rates.py` writes the values to files and runs slop on them.
"""

import ast
import base64
import itertools
import random
import re
from pathlib import Path
from typing import NamedTuple


class Example(NamedTuple):
    """A text of a set."""

    rule: str
    notation: str
    text: str
    # The secret in it; empty if the set only records that there is one.
    value: str
    # Whether the text contains a secret, according to the set.
    is_secret: bool
    # The extension of the file that it belongs in, if the set names one.
    extension: str = ""


# --- Go -------------------------------------------------------------------------------------------------------------

TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<raw>`[^`]*`)|(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<rune>\'(?:[^\'\\]|\\.)+\')'
    r"|(?P<name>[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<sign>:=|\.\.\.|[^\s])",
    re.S,
)


def go_tokens(source):
    """Returns the tokens of a Go source without its comments."""
    found = ((match.lastgroup, match.group()) for match in TOKEN.finditer(source))
    return [token for token in found if token[0] != "comment"]


def go_text(kind, word):
    if kind == "raw":
        return word[1:-1]
    body = re.sub(r"\\u\{?([0-9a-fA-F]{4})\}?", lambda m: chr(int(m.group(1), 16)), word[1:-1])
    escapes = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "'": "'"}
    body = re.sub(r"\\x([0-9a-fA-F]{2})", lambda m: chr(int(m.group(1), 16)), body)
    return re.sub(r"\\(.)", lambda m: escapes.get(m.group(1), m.group(1)), body)


class GoReader:
    """Evaluates the expressions in tests: strings, their concatenations, slices and the generators of gitleaks."""

    def __init__(self, source, samples=(), seed=0):
        self.tokens = go_tokens(source)
        self.names = {}
        self.samples = samples
        self.random = random.Random(seed)
        # The notation of each generated text.
        self.notations = {}

    def word(self, at):
        return self.tokens[at][1] if at < len(self.tokens) else ""

    def expression(self, at):
        """Returns the value at a token (a text, a list or `None`) and the token after it."""
        value, at = self.term(at)
        while self.word(at) == "+":
            right, at = self.term(at + 1)
            value = value + right if isinstance(value, str) and isinstance(right, str) else None
        return value, at

    def term(self, at):
        kind, word = self.tokens[at] if at < len(self.tokens) else ("", "")
        if kind in ("raw", "text"):
            return go_text(kind, word), at + 1
        if kind == "number":
            return int(word) if word.isdigit() else None, at + 1
        if word == "(":
            value, at = self.expression(at + 1)
            return value, at + 1
        if word == "[" and self.word(at + 1) == "]":
            if self.word(at + 2) in ("string", "byte") and self.word(at + 3) in "{(":
                items, at = self.items(at + 4)
                return items if self.word(at - 1) == "}" else "".join(map(str, items)), at
            return None, at + 2
        if kind == "name":
            path, at = word, at + 1
            while self.word(at) == ".":
                path, at = path + "." + self.word(at + 1), at + 2
            if self.word(at) == "(":
                arguments, at = self.items(at + 1)
                return self.call(path, arguments), at
            return (None if path == "nil" else self.names.get(path)), at
        return None, at + 1

    def items(self, at):
        """Returns the expressions up to the closing bracket; a slice with `...` is spread."""
        items = []
        while at < len(self.tokens) and self.word(at) not in ")}":
            before = at
            value, at = self.expression(at)
            if self.word(at) == "..." and isinstance(value, list):
                items.extend(value)
            else:
                items.append(value)
            while at < len(self.tokens) and self.word(at) not in (",", ")", "}"):
                items, at = [*items[:-1], None], self.skip(at)
            at += self.word(at) == ","
            at += at == before
        return items, at + 1

    def skip(self, at):
        """Skips a token, or a bracket with its contents."""
        if self.word(at) not in "([{":
            return at + 1
        depth = 0
        while at < len(self.tokens):
            depth += (self.word(at) in "([{") - (self.word(at) in ")]}")
            at += 1
            if depth == 0:
                break
        return at

    def call(self, path, arguments):
        name = path.rsplit(".", 1)[-1]
        if any(argument is None for argument in arguments):
            return [item for item in arguments if isinstance(item, str)] if name == "append" else None
        sizes = {
            "Numeric": "[0-9]", "Hex": "[a-f0-9]", "AlphaNumeric": "[a-z0-9]", "AlphaNumericExtendedShort": "[a-z0-9_-]",
            "AlphaNumericExtended": r"[a-z0-9=_\-]", "AlphaNumericExtendedLong": r"[a-z0-9\/=_\+\-]",
        }
        if name in sizes:
            return f"{sizes[name]}{{{arguments[0]}}}"
        if name == "Hex8_4_4_4_12":
            return "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
        if name in ("NewSecret", "NewSecretWithEntropy"):
            return text_of(arguments[0], self.random)
        if name == "GenerateSampleSecret":
            return f'{arguments[0]}_api_token = "{arguments[1]}"'
        if name == "GenerateSampleSecrets":
            return [self.sample(notation, form, *arguments) for notation, form in self.samples]
        if name == "Sprintf":
            form = re.sub(r"%[+#]?[vdsq]", "%s", arguments[0])
            try:
                return form % tuple(map(str, arguments[1:]))
            except (TypeError, ValueError):
                return None
        if name == "EncodeToString":
            encoded = base64.urlsafe_b64encode if "URL" in path else base64.b64encode
            text = encoded("".join(map(str, arguments)).encode()).decode()
            return text.rstrip("=") if "Raw" in path else text
        if name == "append":
            head = arguments[0] if isinstance(arguments[0], list) else []
            return head + [item for item in arguments[1:] if isinstance(item, str)]
        if name == "Repeat":
            return arguments[0] * arguments[1]
        return None

    def sample(self, notation, form, name, value):
        text = form.replace("{i}", name).replace("{I}", name.upper()).replace("{s}", value)
        self.notations[text] = (notation, value)
        return text


def text_of(pattern, chance):
    """Returns a text that a regular expression matches."""
    parser = getattr(re, "_parser")
    return "".join(nodes_text(parser.parse(re.sub(r"\[\[:alnum:\]\]", "[a-zA-Z0-9]", pattern)), chance))


def nodes_text(nodes, chance):
    for kind, value in nodes:
        kind = str(kind)
        if kind == "LITERAL":
            yield chr(value)
        elif kind == "ANY":
            yield chance.choice("abcdefgh0123456789")
        elif kind == "IN":
            yield chance.choice(in_class(value))
        elif kind in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inner = value
            # Unlimited repetitions are generated with their minimum length, as in the set's own generator.
            for _ in range(chance.randint(least, min(most, max(least, 1) + 8 if most > 1 << 20 else most))):
                yield from nodes_text(inner, chance)
        elif kind == "SUBPATTERN":
            yield from nodes_text(value[-1], chance)
        elif kind == "BRANCH":
            yield from nodes_text(chance.choice(value[1]), chance)


def in_class(items):
    classes = {"CATEGORY_DIGIT": "0123456789", "CATEGORY_WORD": "abcxyzABCXYZ0123456789_", "CATEGORY_SPACE": " "}
    found = []
    for kind, value in items:
        if str(kind) == "LITERAL":
            found.append(chr(value))
        elif str(kind) == "RANGE":
            found.extend(map(chr, range(value[0], value[1] + 1)))
        elif str(kind) == "CATEGORY":
            found.extend(classes.get(str(value), "a"))
    return found or ["a"]


# --- The sets -------------------------------------------------------------------------------------------------------


def gitleaks(folder):
    """Reads gitleaks, or betterleaks, whose tests have the same format."""
    base = Path(folder) / "cmd/generate/config"
    source = (base / "utils/generate.go").read_text()
    body = source[source.index("samples := map[string]string{") :]
    tokens = go_tokens(body[: body.index("\n\t}\n")])
    pairs = zip(tokens, tokens[1:], tokens[2:])
    samples = [
        (go_text(*a), go_text(*c)) for a, b, c in pairs
        if a[0] == "text" and b[1] == ":" and c[0] in ("raw", "text")
    ]
    secrets = rule_patterns(Path(folder))
    for seed, path in enumerate(sorted((base / "rules").glob("*.go"))):
        reader = GoReader(path.read_text(), samples, seed)
        yield from gitleaks_rules(reader, secrets)


def gitleaks_rules(reader, secrets):
    rule, at = "", 0
    while at < len(reader.tokens):
        word, following = reader.word(at), reader.word(at + 1)
        if word == "RuleID" and following == ":":
            rule, reader.names = go_text(*reader.tokens[at + 2]), {}
        if following in (":=", "=") and reader.tokens[at][0] == "name" and reader.word(at - 1) != ".":
            value, _ = reader.expression(at + 2)
            reader.names[word] = value if value is not None else reader.names.get(word)
        if word.startswith("Validate") and rule:
            arguments, _ = reader.items(at + 2)
            lists = [value for value in arguments[1:] if isinstance(value, list)]
            for is_secret, texts in zip((True, False), lists):
                for text in filter(None, texts):
                    notation, value = reader.notations.get(text, ("as written", ""))
                    value = value if is_secret else ""
                    value = value or (secret_in(secrets.get(rule), text) if is_secret else "")
                    yield Example(rule, notation, text, value, is_secret)
            rule = ""
        at += 1


def rule_patterns(folder):
    """Returns the regular expressions of the rules, which locate the secret in an example."""
    import tomllib

    path = next(path for path in (folder / "config").glob("*leaks.toml"))
    patterns = {}
    for rule in tomllib.loads(path.read_text())["rules"]:
        try:
            patterns[rule["id"]] = re.compile(python_pattern(rule.get("regex", "$.")), 0)
        except re.error:
            continue
    return patterns


def python_pattern(pattern):
    """Converts a Go pattern to Python syntax: flags only at the start or in a group."""
    pattern = re.sub(r"\[:alnum:\]", "a-zA-Z0-9", pattern).replace(r"\z", r"\Z")
    flag = re.search(r"(?<!\\)\(\?([imsU]+)\)", pattern)
    if flag is None or "|" in pattern[: flag.start()] and flag.start() == 0:
        return pattern
    head, tail = pattern[: flag.start()], pattern[flag.end() :]
    # A flag within a group applies until the group's end.
    depth = 0
    for at, sign in enumerate(tail):
        escaped = tail[at - 1] == "\\" if at else False
        depth += (sign == "(" and not escaped) - (sign == ")" and not escaped)
        if depth < 0:
            return python_pattern(f"{head}(?{flag[1]}:{tail[:at]}){tail[at:]}")
    return python_pattern(f"{head}(?{flag[1]}:{tail})")


def secret_in(pattern, text):
    match = pattern.search(text) if pattern else None
    if match is None:
        return ""
    return next((group for group in match.groups() if group), match.group())


def trufflehog(folder):
    """Reads the tests of patterns: each input with its expected results."""
    for path in sorted((Path(folder) / "pkg/detectors").rglob("*_test.go")):
        source = path.read_text()
        if "_integration_test" in path.name or "want" not in source:
            continue
        rule = path.relative_to(Path(folder) / "pkg/detectors").parts[0]
        yield from trufflehog_tests(rule, GoReader(source))


def trufflehog_tests(rule, reader):
    text, title = None, ""
    for at, (kind, word) in enumerate(reader.tokens):
        following = reader.word(at + 1)
        if kind != "name":
            continue
        if following in ("=", ":=") and reader.word(at - 1) != ".":
            reader.names[word], _ = reader.expression(at + 2)
        elif following == "string" and reader.word(at + 2) == "=":
            reader.names[word], _ = reader.expression(at + 3)
        elif following == ":" and word == "name":
            title, _ = reader.expression(at + 2)
        elif following == ":" and word in ("input", "data"):
            text, _ = reader.expression(at + 2)
        elif following == ":" and word == "want" and isinstance(text, str):
            wanted, behind = reader.expression(at + 2)
            is_none = reader.word(at + 2) == "nil" or wanted == []
            if is_none:
                yield Example(rule, str(title), text, "", False)
            elif isinstance(wanted, list):
                values = [secret_part(value, text) for value in wanted if isinstance(value, str)]
                notation = notation_of(text)
                # Some results are addresses without any secret, or references to one.
                values = [value for value in values if value and not value.startswith(("$", "http:/", "https:/"))]
                yield from (Example(rule, notation, text, value, True) for value in values)
            text = None


# A host, an address or a mailbox, which a result may name next to the key.
ADDRESS = re.compile(r"^//|://|\w@\w|\.(?:com|io|net|org|app|cloud|dev|eu|internal|windows\.net)\b")


# A whole result that is a mailbox, a host, or a database address without a password is not a secret.
NO_SECRET = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+$|(?:[\w-]+\.)+(?:com|co|io|net|org|au)(?::\d+)?$|jdbc:(?!.*(?:password|pwd)=)(?!.*\w:\w+@).*$"
)


def secret_part(wanted, text):
    """Returns the secret in a result, which joins a key with the name of its account."""
    if wanted in text and NO_SECRET.match(wanted):
        return ""
    if wanted in text and not re.match(r"https?://[^@]*$", wanted):
        return wanted
    parts = [part for part in re.split(r'[:;,|/"{} \[\]]+', wanted) if part and part in text]
    for at in range(1, len(wanted)):
        if wanted[:at] in text and wanted[at:] in text:
            parts += [wanted[:at], wanted[at:]]
    parts = [part for part in parts if len(part) >= 6 and not ADDRESS.search(part)]
    # The name of an account comes first.
    return max(reversed(parts), key=len) if parts else ""


NOTATIONS = [
    ("markup", r"<\w[^>]*>"), ("log line", r"\[(?:DEBUG|INFO|ERROR)\]"), ("URL with a password", r"\w://[^\s/]*:[^\s/]*@"),
    ("header", r"(?i)authorization|bearer|x-[a-z-]+:"), ("program", r"(?m)^\s*(?:import|const|var|func|package|def)\b"),
    ("assignment", r"\w\s*:?=\s*\S"), ("key: value", r"[\w\"']:\s"),
]


def notation_of(text):
    return next((name for name, pattern in NOTATIONS if re.search(pattern, text)), "sentence")


def detect_secrets(folder):
    """Reads the parametrized tests of the plugins."""
    for path in sorted((Path(folder) / "tests/plugins").glob("*_test.py")):
        rule = path.stem.removesuffix("_test")
        tree = ast.parse(path.read_text())
        names = constants(tree)
        if rule == "keyword":
            yield from keyword_tests(names)
        elif rule == "high_entropy_strings":
            yield from entropy_tests(tree, names)
        else:
            yield from flag_tests(rule, tree, names)


def constants(tree):
    names = {"base64": base64, "randint": lambda low, _: low}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Name, ast.Attribute)):
            value = evaluated(node.value, names)
            if value is not None:
                target = node.targets[0]
                names[target.id if isinstance(target, ast.Name) else target.attr] = value
    return names


def evaluated(node, names):
    """Evaluates an expression of texts, lists and `str.format`; `None` if it has anything else."""
    allowed = (
        ast.Constant, ast.Name, ast.Load, ast.List, ast.Tuple, ast.BinOp, ast.Add, ast.Mult, ast.Call, ast.Attribute,
        ast.Subscript, ast.Slice, ast.keyword, ast.JoinedStr, ast.FormattedValue,
    )
    methods = {"format", "encode", "decode", "b64encode", "dedent"}
    for inner in ast.walk(node):
        if not isinstance(inner, allowed):
            return None
        if isinstance(inner, ast.Attribute) and inner.attr not in methods:
            return None
    try:
        return eval(compile(ast.Expression(node), "test", "eval"), {"__builtins__": {"str": str}}, names)
    except Exception:
        return None


def keyword_tests(names):
    quoted = ["cls", "java", "py", "pyi", "js", "swift", "tf"]
    tables = [("CONFIG", ["conf"]), ("GOLANG", ["go"]), ("COMMON_C", ["m", "c", "cs"]), ("QUOTES_REQUIRED", quoted)]
    for table, extensions in tables:
        for extension, (text, value) in itertools.product(extensions, names[f"{table}_TEST_CASES"]):
            yield Example("keyword", notation_of(text), text, value or "", value is not None, extension)


def entropy_tests(tree, names):
    for _, plain, secret in parametrized(tree, names, 3):
        for mark in ("'", '"'):
            yield Example("high_entropy_strings", "quoted", f"{mark}{secret}{mark}", secret, True)
            yield Example("high_entropy_strings", "quoted", f"{mark}{plain}{mark}", "", False)


def flag_tests(rule, tree, names):
    for text, is_secret in parametrized(tree, names, 2):
        if isinstance(text, str) and isinstance(is_secret, (bool, int)):
            yield Example(rule, notation_of(text), text, "", bool(is_secret))


def parametrized(tree, names, width):
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if is_call and node.func.attr == "parametrize" and isinstance(node.args[1], (ast.List, ast.Tuple)):
            for row in node.args[1].elts:
                cells = row.elts if isinstance(row, ast.Tuple) else []
                if len(cells) == width:
                    yield [evaluated(cell, names) for cell in cells]


READERS = {
    "gitleaks": gitleaks,
    "betterleaks": gitleaks,
    "trufflehog": trufflehog,
    "detect-secrets": detect_secrets,
}
