"""Measures how long `slop lsp` takes to answer: lsp.py SLOP TREE [ROUNDS]

Opens 20 source files of TREE one after the other, and sends every kind of request about a symbol of each, with and
without a daemon. TREE is not modified. Prints the time from the start of the process to the first answer, and
percentiles of the time from a request to its answer.
"""

import json
import os
import subprocess
import sys
import time

SLOP, TREE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 10
environment = {**os.environ, "SLOP_CONFIG": "/dev/null"}


class Server:
    def __init__(self):
        options = [] if HAS_DAEMON else ["--no-daemon"]
        self.process = subprocess.Popen(
            [SLOP, *options, "lsp"], cwd=TREE, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.last_id = 0

    def send(self, method, params, **fields):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **fields}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last_id += 1
        self.send(method, params, id=self.last_id)
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            message = json.loads(self.process.stdout.read(length))
            if message.get("id") == self.last_id and "method" not in message:
                break
        if "result" not in message:
            sys.exit(f"failed: {method}: {message}")
        return message["result"]


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def measure():
    before = time.perf_counter()
    server = Server()
    server.ask("initialize", {"processId": None, "rootUri": f"file://{TREE}", "capabilities": SYMBOLS_AS_TREE})
    server.send("initialized", {})
    times, first = {}, None

    def ask(method, params):
        before = time.perf_counter()
        answer = server.ask(method, params)
        times.setdefault(method, []).append((time.perf_counter() - before) * 1000)
        return answer

    for path in FILES:
        document = {"uri": f"file://{TREE}/{path}"}
        with open(os.path.join(TREE, path), encoding="utf-8") as file:
            item = {**document, "languageId": "", "version": 1, "text": file.read()}
        server.send("textDocument/didOpen", {"textDocument": item})
        for _ in range(ROUNDS):
            symbols = ask("textDocument/documentSymbol", {"textDocument": document})
            first = first or (time.perf_counter() - before) * 1000
            ask("textDocument/foldingRange", {"textDocument": document})
            if not symbols:
                break
            at = {"textDocument": document, "position": symbols[-1]["selectionRange"]["start"]}
            ask("workspace/symbol", {"query": symbols[-1]["name"][:4]})
            ask("textDocument/hover", at)
            ask("textDocument/definition", at)
            ask("textDocument/references", {**at, "context": {"includeDeclaration": True}})
    server.ask("shutdown", None)
    server.send("exit", None)
    if server.process.wait(timeout=10) != 0:
        sys.exit("failed: the server did not end well")
    print(f"{'first answer':<28} {first:6.1f} ms")
    for method, taken in times.items():
        shares = [f"p{share * 100:g} {percentile(taken, share):6.2f}" for share in (0.5, 0.9, 0.99)]
        print(f"{method:<28} {'  '.join(shares)}  most {max(taken):6.1f} ms  ({len(taken)})")


SYMBOLS_AS_TREE = {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}}
listed = json.loads(subprocess.check_output([SLOP, "--no-daemon", "status", "--json"], cwd=TREE, env=environment))
outlined = [file["path"] for file in listed["data"]["files"] if file["path"].endswith((".py", ".rs", ".c"))]
outlined = [path for path in outlined if os.path.getsize(os.path.join(TREE, path)) > 500]
FILES = outlined[:: max(1, len(outlined) // 20)][:20]
subprocess.run([SLOP, "index", "--quiet"], cwd=TREE, env=environment, check=True)
print(f"{len(listed['data']['files'])} files; without a daemon:")
HAS_DAEMON = False
measure()
daemon = subprocess.Popen([SLOP, "watch", "--quiet"], cwd=TREE, env=environment)
try:
    while subprocess.run([SLOP, "daemon", "status"], cwd=TREE, env=environment, capture_output=True).returncode != 0:
        time.sleep(0.1)
    print("with one:")
    HAS_DAEMON = True
    measure()
finally:
    daemon.terminate()
    daemon.wait()
