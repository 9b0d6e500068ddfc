"""Measures how long after an edit an MCP client is notified: mcp_push.py SLOP TREE [EDITS]

Starts a daemon in TREE and subscribes to 20 of its files in three ways: with `resources/subscribe` and with
`subscriptions/listen` at `slop mcp`, and with `subscriptions/listen` at the daemon's `/mcp`. Then it appends to one
file at a time, at random intervals. TREE must be a copy, because it is modified. Fails if the 99th percentile is above
50 ms. It also prints how long sleeps of 25 ms take in this script, which shows the delays of the machine itself: the
daemon waits for 25 ms until a file has settled.
"""

import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import time

SLOP, TREE = os.path.abspath(sys.argv[1]), sys.argv[2]
EDITS = int(sys.argv[3]) if len(sys.argv) > 3 else 300
LIMIT_MS = 50
COMMENTS = {".py": b"#", ".rs": b"//"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "mcp_push", "version": "0"},
}
environment = {**os.environ, "SLOP_CONFIG": "/dev/null"}


class Server:
    def __init__(self):
        self.process = subprocess.Popen(
            [SLOP, "mcp"], cwd=TREE, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.last_id = 0

    def send(self, method, params, is_request=True):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if is_request:
            self.last_id += 1
            message["id"] = self.last_id
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        if self.process.wait(timeout=10) != 0:
            sys.exit("failed: the server did not end well")

    def ask(self, method, params):
        self.send(method, params)
        answer = self.receive()
        if answer.get("id") != self.last_id or "result" not in answer:
            sys.exit(f"failed: {method}: {answer}")
        return answer["result"]


class Endpoint:
    """The daemon's MCP server: one request, whose response is a stream of events."""

    def __init__(self):
        with open(os.path.join(TREE, ".slop_cache", "daemon.listen"), encoding="utf-8") as file:
            listener = json.load(file)
        self.connection = http.client.HTTPConnection(listener["address"])
        self.headers = {
            "authorization": f"Bearer {listener['token']}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": META["io.modelcontextprotocol/protocolVersion"],
        }

    def send(self, method, params):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.connection.request("POST", "/mcp", json.dumps(message), {**self.headers, "mcp-method": method})
        self.answer = self.connection.getresponse()
        if self.answer.status != 200:
            sys.exit(f"failed: {method}: {self.answer.status} {self.answer.read()}")

    def receive(self):
        while True:
            line = self.answer.readline()
            if line.startswith(b"data: "):
                return json.loads(line[len("data: ") :])
            if not line:
                sys.exit("failed: the stream has ended")

    def close(self):
        self.connection.close()


def subscribe(server, addresses):
    client = {"name": "mcp_push", "version": "0"}
    server.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    server.send("notifications/initialized", {}, is_request=False)
    for address in addresses:
        server.ask("resources/subscribe", {"uri": address})


def listen(server, addresses):
    server.send("subscriptions/listen", {"_meta": META, "notifications": {"resourceSubscriptions": addresses}})
    accepted = server.receive()["params"]["notifications"]["resourceSubscriptions"]
    if accepted != addresses:
        sys.exit(f"failed: accepted {accepted}")


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def report(name, times):
    shares = [f"p{share * 100:g} {percentile(times, share):6.1f}" for share in (0.5, 0.9, 0.99)]
    print(f"{name:<28} {'  '.join(shares)}  most {max(times):6.1f} ms  ({len(times)})")


def measure(name, server, begin):
    begin(server, [f"slop://view/skeleton/{path}" for path in FILES])
    random.seed(1)
    times, slept = [], []
    for number in range(EDITS):
        before = time.perf_counter()
        time.sleep(0.025)
        slept.append((time.perf_counter() - before) * 1000)
        time.sleep(random.uniform(0.1, 0.3))
        path = random.choice(FILES)
        with open(os.path.join(TREE, path), "ab") as file:
            before = time.perf_counter()
            file.write(b"%s %d\n" % (COMMENTS[os.path.splitext(path)[1]], number))
        told = server.receive()
        times.append((time.perf_counter() - before) * 1000)
        if told["params"]["uri"] != f"slop://view/skeleton/{path}":
            sys.exit(f"failed: {path} was edited, and the server reported {told}")
    server.close()
    report(name, times)
    report("sleeping for 25 ms", slept)
    return percentile(times, 0.99)


def clock():
    """Returns how many events the daemon has sent."""
    asked = subprocess.run([SLOP, "status", "--json"], cwd=TREE, env=environment, capture_output=True)
    position = json.loads(asked.stdout).get("clock") if asked.returncode == 0 else None
    return position and position.split(":")[1]


# When it starts, the daemon reports only files that are not cached.
shutil.rmtree(os.path.join(TREE, ".slop_cache"), ignore_errors=True)
listed = json.loads(subprocess.check_output([SLOP, "--no-daemon", "status", "--json"], cwd=TREE, env=environment))
FILES = [file["path"] for file in listed["data"]["files"] if os.path.splitext(file["path"])[1] in COMMENTS]
FILES = FILES[:: max(1, len(FILES) // 20)][:20]
print(f"{len(listed['data']['files'])} files, of which {len(FILES)} are edited")
daemon = subprocess.Popen([SLOP, "watch", "--quiet", "--listen", "127.0.0.1:0"], cwd=TREE, env=environment)
try:
    # The first event lists all files; edits are measured after it.
    while clock() in (None, "0"):
        time.sleep(0.1)
    slowest = max(
        measure("stdio, resources/subscribe", Server(), subscribe),
        measure("stdio, subscriptions/listen", Server(), listen),
        measure("HTTP, subscriptions/listen", Endpoint(), listen),
    )
finally:
    daemon.terminate()
    daemon.wait()
sys.exit(f"failed: p99 is {slowest:.1f} ms, the limit is {LIMIT_MS} ms" if LIMIT_MS < slowest else 0)
