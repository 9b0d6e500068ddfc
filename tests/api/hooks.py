"""What the generator cannot know: which files exist, and that an event stream is endless unless limited."""

import random

import schemathesis

FILES = ["src", "src/engine.py", "a b.md", "x.bin", "long.txt", "*.md", "../outside", "/etc/hostname", "no.such", ".env"]
NAMES = ["Engine", "run", "Engine.run", "caf\u00e9", "nothing"]
REVISIONS = ["HEAD", "main", "HEAD~1", "nonsense", "--output=x"]
DICE = random.Random(7)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Limits streams, and uses real names in half of the requests."""
    if case.operation.path == "/v1/events":
        query = dict(case.query or {})
        wait = query.get("wait_ms", 10**9)
        if str(wait).isdigit() and 30 < int(wait) < 2**64:
            query["wait_ms"] = 30
        case.query = query
    if isinstance(case.body, dict) and DICE.random() < 0.5:
        make_real(case.body)


def make_real(body):
    """Replaces generated names by names in the project, except values that are not short strings."""
    words = {"name": NAMES, "file": FILES, "base": REVISIONS, "history": FILES}
    for key, value in list(body.items()):
        if isinstance(value, dict):
            make_real(value)
        elif isinstance(value, list) and key in ("files", "focus", "screenshots") and len(value) < 50:
            body[key] = [DICE.choice(FILES) if is_name(item) else item for item in value]
        elif is_name(value) and key in words:
            body[key] = DICE.choice(words[key])
        elif is_name(value) and key in ("persona", "preset"):
            del body[key]


def is_name(value):
    return isinstance(value, str) and 0 < len(value) < 100
