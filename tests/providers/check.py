"""Checks request bodies against the official libraries of Anthropic, OpenAI and Google.

Each body must satisfy the types that a library declares, with no key that it does not know; and the library, given the
body as arguments, must send exactly these bytes of JSON. Mutants of each body must be refused, so that the check can
fail.
"""

import copy
import http.server
import importlib
import importlib.metadata
import json
import pkgutil
import sys
import threading
from pathlib import Path

import anthropic
import anthropic.types
import google.genai.types as gemini_types
import openai
import openai.types
import pydantic
import typing_extensions
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from google import genai
from google.genai import errors
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

STRICT = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=True)


def forbid_unknown_keys(package):
    """Makes every typed dictionary of a package, and every model within one, reject unknown keys."""
    models = set()
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        for value in vars(importlib.import_module(module.name)).values():
            if typing_extensions.is_typeddict(value):
                value.__pydantic_config__ = STRICT
            elif isinstance(value, type) and issubclass(value, pydantic.BaseModel):
                models.add(value)
    # Blocks of a response may be sent back, and response models accept any key.
    for model in models:
        model.model_config["extra"] = "forbid"
    for model in models:
        model.model_rebuild(force=True)


def drain(value):
    """Visits everything in a value, because pydantic validates iterables lazily."""
    if isinstance(value, dict):
        for item in value.values():
            drain(item)
    elif hasattr(value, "__iter__") and not isinstance(value, (str, bytes)):
        for item in value:
            drain(item)


def satisfies(adapter):
    def check(body):
        drain(adapter.validate_python(body))

    return check


def gemini_satisfies(body):
    """Validates each part, because the library has no type for the whole body; all parts forbid unknown keys."""
    unknown = set(body) - {"contents", "generationConfig", "systemInstruction"}
    if unknown:
        raise ValueError(f"unknown keys: {unknown}")
    for content in body["contents"]:
        gemini_types.Content.model_validate(content)
        if not content.get("parts"):
            raise ValueError("a content without parts")
    gemini_types.GenerationConfig.model_validate(body["generationConfig"])
    if "systemInstruction" in body:
        gemini_types.Content.model_validate(body["systemInstruction"])


class Listener(http.server.BaseHTTPRequestHandler):
    """A server in place of every provider, which records each request and rejects it."""

    heard = []

    def do_POST(self):
        self.heard.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(400)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_words):
        pass


def sent(call):
    """Returns the JSON that a library sends; nothing leaves this machine."""
    Listener.heard.clear()
    try:
        call()
    except (anthropic.BadRequestError, openai.BadRequestError, errors.ClientError):
        (body,) = Listener.heard
        return body
    raise AssertionError("the listener refuses everything")


def by_anthropic(body, address):
    client = anthropic.Anthropic(api_key="none", base_url=address, max_retries=0)
    return sent(lambda: client.messages.create(**body))


def by_openai(body, address):
    client = openai.OpenAI(api_key="none", base_url=address, max_retries=0)
    return sent(lambda: client.chat.completions.create(**body))


def by_gemini(body, address):
    client = genai.Client(api_key="none", http_options={"base_url": address})
    contents = [gemini_types.Content.model_validate(content) for content in body["contents"]]
    config = gemini_types.GenerateContentConfig.model_validate(body["generationConfig"])
    heard = sent(lambda: client.models.generate_content(model="gemini-x", contents=contents, config=config))
    return plain(heard)


def plain(value, key=""):
    """Returns Google's JSON in the spelling that slop uses: camel-case keys, and base64 with + and /.

    To the API, whose JSON is that of protocol buffers, both are the same.
    """
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {camel(key): plain(item, key) for key, item in value.items()}
    return value.replace("-", "+").replace("_", "/") if key == "data" else value


def camel(key):
    first, *rest = key.split("_")
    return first + "".join(word.capitalize() for word in rest)


def mutants(body):
    """Yields invalid bodies, each with a description of the error."""

    def mutant(name, change):
        changed = copy.deepcopy(body)
        change(changed)
        return name, changed

    turns = "messages" if "messages" in body else "contents"
    blocks = "content" if "messages" in body else "parts"
    yield mutant("an unknown key", lambda b: b.update(cache="yes"))
    yield mutant("a message that is no table", lambda b: b[turns].append(3))
    yield mutant("an unknown key of a message", lambda b: b[turns][0].update(name_of_role="x"))
    yield mutant("an unknown key of a block", lambda b: b[turns][0][blocks][0].update(cach_control=1))
    yield mutant("a text that is a number", lambda b: b[turns][0][blocks][0].update(text=3))
    if turns == "messages":
        yield mutant("no messages", lambda b: b.pop("messages"))
        yield mutant("no model", lambda b: b.pop("model"))
        yield mutant("a role that nobody has", lambda b: b[turns][0].update(role="narrator"))
        yield mutant("a block of no type", lambda b: b[turns][0][blocks][0].pop("type"))
    else:
        yield mutant("no parts", lambda b: b[turns][0].pop("parts"))
        yield mutant("a limit that is a word", lambda b: b["generationConfig"].update(maxOutputTokens="many"))
    if "max_tokens" in body:
        yield mutant("no limit of tokens", lambda b: b.pop("max_tokens"))
        for block in range(len(body[turns][0][blocks])):
            if "cache_control" in body[turns][0][blocks][block]:
                change = lambda b, at=block: b[turns][0][blocks][at].update(cache_control={"type": "eternal"})
                yield mutant("a cache of no known kind", change)


def difference(ours, theirs, at="the body"):
    """Returns the first position where two values differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in ours.keys() | theirs.keys():
            if ours.get(key) != theirs.get(key):
                return difference(ours.get(key), theirs.get(key), f"{at}.{key}")
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (one, other) in enumerate(zip(ours, theirs)):
            if one != other:
                return difference(one, other, f"{at}[{index}]")
    return f"{at} is {str(ours)[-200:]!r}, and its library sends {str(theirs)[-200:]!r}"


def check(name, body, satisfied, send, address):
    satisfied(body)
    other = send(body, address)
    assert other == body, f"{name}: {difference(body, other)}"
    refused = 0
    for what, wrong in mutants(body):
        try:
            satisfied(wrong)
        except (pydantic.ValidationError, ValueError):
            refused += 1
            continue
        raise SystemExit(f"{name}: a body with {what} was taken for a good one")
    print(f"{name}: good, sent as it is by its library; {refused} mutants refused")


def main():
    folder = Path(sys.argv[1])
    server = http.server.HTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    for package in (anthropic.types, openai.types):
        forbid_unknown_keys(package)
    for library in ("anthropic", "openai", "google-genai"):
        print(library, importlib.metadata.version(library))
    to_anthropic = satisfies(pydantic.TypeAdapter(MessageCreateParamsNonStreaming))
    to_openai = satisfies(pydantic.TypeAdapter(CompletionCreateParamsNonStreaming))
    checks = {
        "anthropic": (to_anthropic, by_anthropic),
        "openai": (to_openai, by_openai),
        "openai_old": (to_openai, by_openai),
        "gemini": (gemini_satisfies, by_gemini),
    }
    for name, (satisfied, send) in checks.items():
        body = json.loads((folder / f"{name}.json").read_text())
        check(name, body, satisfied, send, address)
        image = "image" in json.dumps(body)
        assert image or name == "openai_old", f"{name}: no image in it"
    body = json.loads((folder / "anthropic.json").read_text())
    marked = [block for block in body["messages"][0]["content"] if "cache_control" in block]
    assert 1 < len(marked) <= 4, "the project is long enough for more than one breakpoint"


main()
