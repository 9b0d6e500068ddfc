"""Queries and measures a daemon of slop. Run by daemon.sh, which documents what is measured."""

import json
import os
import random
import select
import socket
import subprocess
import sys
import threading
import time

SLOP, PART, TREE, WORK = sys.argv[1:5]
ROUNDS = int(os.environ.get("ROUNDS", "50"))
IDLE_SECONDS = int(os.environ.get("IDLE_SECONDS", "60"))
LOAD_SECONDS = int(os.environ.get("LOAD_SECONDS", "10"))
TICKS = os.sysconf("SC_CLK_TCK")
FOLDERS, FILES_A_FOLDER = 5000, 20
ROOM = 64 << 20


class Client:
    """A persistent connection that reads each answer to the end."""

    def __init__(self, tree, accept="application/json"):
        self.path = os.path.join(tree, ".slop_cache/daemon.sock")
        self.accept = accept
        # Allocated in advance, so that the allocation is not measured.
        self.room = bytearray(ROOM)
        self.connect()

    def connect(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(self.path)

    def ask(self, path, body=None):
        """Returns the answer's bytes."""
        data = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{'GET' if body is None else 'POST'} /v1/{path} HTTP/1.1\r\nHost: localhost\r\nAccept: {self.accept}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        if select.select([self.socket], [], [], 0)[0]:
            # The daemon has closed an idle connection.
            self.connect()
        self.socket.sendall(head.encode() + data)
        view, at, end = memoryview(self.room), 0, None
        while end is None or at < end:
            count = self.socket.recv_into(view[at:])
            if not count:
                sys.exit("failed: the daemon hung up")
            at += count
            if end is None and (split := bytes(view[:min(at, 4096)]).find(b"\r\n\r\n")) != -1:
                answer_head = bytes(view[:split]).decode().lower()
                length = answer_head.split("content-length: ")[1].split("\r\n")[0]
                start, end = split + 4, split + 4 + int(length)
        answer = view[start:end]
        if not answer_head.startswith("http/1.1 200"):
            sys.exit(f"failed: {path}: {bytes(answer[:500])}")
        return answer

    def data(self, path, body=None):
        return json.loads(bytes(self.ask(path, body)))


def timed(work):
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def told(name, times, most=None):
    times = sorted(times)
    p50, p99 = times[len(times) // 2], times[min(len(times) - 1, len(times) * 99 // 100)]
    target = f" (to be: {most})" if most else ""
    print(f"{name}: p50 {p50:.1f} ms, p99 {p99:.1f} ms, of {len(times)}{target}", flush=True)


def say(name, value, most=None):
    print(f"{name}: {value}" + (f" (to be: {most})" if most else ""), flush=True)


class Daemon:
    def __init__(self, tree):
        self.tree = tree
        self.log = open(os.path.join(WORK, "daemon.log"), "ab")
        self.process = subprocess.Popen([SLOP, "--project", tree, "--quiet", "watch"], stdout=self.log, stderr=self.log)
        began = time.perf_counter()
        while True:
            try:
                self.client = Client(tree)
                break
            except OSError:
                if self.process.poll() is not None or 60 < time.perf_counter() - began:
                    sys.exit(f"failed: no daemon; see {self.log.name}")
                time.sleep(0.002)

    def cpu(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self, name="VmRSS"):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024 // 1_000_000
        return 0

    def switches(self):
        """Returns how often its threads have gone to sleep so far."""
        found = {}
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            base = f"/proc/{self.process.pid}/task/{thread}"
            for line in open(f"{base}/status"):
                if line.startswith("voluntary_ctxt_switches"):
                    found[open(f"{base}/comm").read().strip() + " " + thread] = int(line.split()[1])
        return found

    def wait_quiet(self):
        """Waits until no work is pending and the daemon is idle."""
        quiet = 0
        while quiet < 5:
            before = self.cpu()
            time.sleep(0.2)
            status = self.client.data("status")["data"]
            quiet = quiet + 1 if self.cpu() - before < 0.02 and not status.get("pending") else 0

    def stop(self):
        self.process.terminate()
        self.process.wait()


def git(tree, *arguments):
    subprocess.run(["git", "-C", tree, *arguments], check=True, capture_output=True)


def documents():
    """A whole document, requested repeatedly."""
    daemon = Daemon(TREE)
    ask = {"choice": {"tier": 3}}
    json_client, text_client = daemon.client, Client(TREE, "text/markdown")
    say("first document after a start", f"{timed(lambda: json_client.ask('aggregate', ask)):.0f} ms")
    daemon.wait_quiet()
    size = len(json_client.ask("aggregate", ask))
    say("its size", f"{size / 1e6:.1f} MB")
    for name, client in [("JSON", json_client), ("Markdown", text_client)]:
        client.ask("aggregate", ask)
        told(f"tier 3 unchanged, {name}", [timed(lambda: client.ask("aggregate", ask)) for _ in range(ROUNDS)], "30")
    files = subprocess.run(["git", "-C", TREE, "ls-files", "*.py", "*.c"], capture_output=True, text=True, check=True)
    files, chance = files.stdout.split("\n")[:-1], random.Random(7)
    for name, client in [("JSON", json_client), ("Markdown", text_client)]:
        times = []
        for turn in range(ROUNDS):
            for file in chance.sample(files, 10):
                with open(os.path.join(TREE, file), "ab") as out:
                    out.write(f"# {turn} {name}\n".encode())
            times.append(timed(lambda: client.ask("aggregate", ask)))
        told(f"tier 3 with 10 files changed, {name}", times, "60")
    say("memory, with documents kept", f"{daemon.memory()} MB, at most {daemon.memory('VmHWM')} MB")
    git(TREE, "checkout", "--quiet", "--", ".")
    daemon.stop()


def path_of(number):
    folder = number // FILES_A_FOLDER
    return f"part{folder // 100:02}/folder{folder % 100:02}/file{number % FILES_A_FOLDER:02}.py"


def make_tree():
    """A repository of 100,000 small files in 5,000 folders, with two branches that have no file in common."""
    for branch in ["one", "two"]:
        for number in range(FOLDERS * FILES_A_FOLDER):
            path = os.path.join(TREE, path_of(number))
            if number % FILES_A_FOLDER == 0:
                os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as out:
                out.write(f'"""Part {number} of {branch}."""\n\n\ndef {branch}_{number}(value):\n    return value + {number}\n')
        if branch == "one":
            git(TREE, "init", "--quiet", "--initial-branch", branch)
        else:
            git(TREE, "switch", "--quiet", "--create", branch)
        git(TREE, "add", "--all")
        git(TREE, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "--message", branch)


def audit():
    done = subprocess.run([SLOP, "--project", TREE, "audit"], capture_output=True, text=True)
    if done.returncode:
        say("AUDIT FAILED", (done.stdout + done.stderr)[:500])


def outline(client, number):
    return bytes(client.ask("outline", {"files": [path_of(number)]}))


def idle(daemon):
    daemon.wait_quiet()
    cpu, before = daemon.cpu(), daemon.switches()
    time.sleep(IDLE_SECONDS)
    share = (daemon.cpu() - cpu) / IDLE_SECONDS * 100
    say("memory when idle", f"{daemon.memory()} MB", "< 150")
    say(f"cpu when idle, over {IDLE_SECONDS} s", f"{share:.2f} % of a core", "< 0.2")
    woken = {name: count - before.get(name, 0) for name, count in daemon.switches().items()}
    say("wake-ups a second when idle", {n: round(c / IDLE_SECONDS, 2) for n, c in woken.items() if c}, "<= 1 each")


def tree():
    """Many small files: start, idle, branch switches, restart."""
    if not os.path.exists(os.path.join(TREE, ".git")):
        make_tree()
    began = time.perf_counter()
    daemon = Daemon(TREE)
    outline(daemon.client, 5)
    say("start of a new cache to the first answer of one file", f"{time.perf_counter() - began:.2f} s")
    daemon.client.ask("status")
    daemon.client.ask("index", {})
    say("start of a new cache to all files known", f"{time.perf_counter() - began:.2f} s")
    idle(daemon)
    switches(daemon)
    daemon.stop()
    began = time.perf_counter()
    daemon = Daemon(TREE)
    daemon.client.ask("index", {})
    say("restart to all 100,000 files known to be unchanged", f"{time.perf_counter() - began:.2f} s", "<= 2")
    idle(daemon)
    daemon.stop()
    audit()


def switches(daemon):
    for turn in range(5):
        branch = ["one", "two"][turn % 2]
        times, going = [], [True]

        def queries():
            client, chance = Client(TREE), random.Random(turn)
            while going[0]:
                times.append(timed(lambda: outline(client, chance.randrange(FOLDERS * FILES_A_FOLDER))))
                time.sleep(0.01)

        thread = threading.Thread(target=queries)
        thread.start()
        took = timed(lambda: git(TREE, "switch", "--quiet", branch))
        after = timed(lambda: daemon.client.ask("index", {}))
        going[0] = False
        thread.join()
        say(f"switch {turn + 1} of all files", f"git {took / 1000:.1f} s, then {after / 1000:.1f} s until all was known")
        told("  questions meanwhile", times, "p99 < 1000")
        say("  memory at most so far", f"{daemon.memory('VmHWM')} MB", "<= 400")
        audit()
        daemon.wait_quiet()
        say("  memory afterwards", f"{daemon.memory()} MB")


def write_then_ask(client, numbers, rounds):
    """Returns the times from a write to an answer that includes it, and checks the answer."""
    times, chance = [], random.Random(3)
    for turn in range(rounds):
        number = chance.choice(numbers)
        name = f"name_{turn}_{number}"
        with open(os.path.join(TREE, path_of(number)), "w") as out:
            out.write(f"def {name}():\n    pass\n")
        found = []
        times.append(timed(lambda: found.append(outline(client, number))))
        if name.encode() not in found[0]:
            say("STALE", path_of(number))
    return times


def load(work, per_second, numbers):
    """Runs `work` while another process writes files at a given rate. Reports the actual rate."""
    code = """
import sys, time
paths, rate = sys.argv[2:], int(sys.argv[1])
began, count = time.perf_counter(), 0
try:
    while True:
        for _ in range(max(1, rate // 100)):
            with open(paths[count % len(paths)], "w") as out:
                out.write(f"def load_{count}(): pass\\n")
            count += 1
        pause = began + count / rate - time.perf_counter()
        if 0 < pause: time.sleep(pause)
except KeyboardInterrupt:
    print(count / (time.perf_counter() - began))
"""
    paths = [os.path.join(TREE, path_of(number)) for number in numbers]
    writer = subprocess.Popen([sys.executable, "-c", code, str(per_second), *paths], stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    result = work()
    writer.send_signal(2)
    return result, float(writer.communicate()[0])


def latency():
    """The time from a write to an answer that includes it, on the tree of many files."""
    daemon = Daemon(TREE)
    daemon.client.ask("index", {})
    daemon.wait_quiet()
    client, own = daemon.client, range(0, 1000)
    told("ask for one outline, nothing changed", [timed(lambda: outline(client, 7)) for _ in range(ROUNDS * 20)], "2, p99 20")
    many = {"files": [path_of(number) for number in range(200)]}
    told("ask for 200 outlines, nothing changed", [timed(lambda: client.ask("outline", many)) for _ in range(ROUNDS * 4)], "2, p99 20")
    told("write, then ask", write_then_ask(client, own, ROUNDS * 20), "30, p99 250")
    daemon.wait_quiet()
    large = "".join(f"def large_{n}(value):\n    return value * {n} + {n}\n\n" for n in range(100_000 // 50))
    times = []
    for turn in range(ROUNDS):
        with open(os.path.join(TREE, path_of(3)), "w") as out:
            out.write(f"def first_{turn}(): pass\n" + large)
        times.append(timed(lambda: outline(client, 3)))
    told(f"write {len(large) // 1000} kB, then ask", times, "30, p99 250")
    daemon.wait_quiet()
    others = range(2000, 7000)

    def asked():
        began, cpu, times = time.perf_counter(), daemon.cpu(), []
        while time.perf_counter() - began < LOAD_SECONDS:
            times.append(timed(lambda: outline(client, 7)))
            time.sleep(0.002)
        return times, (daemon.cpu() - cpu) / (time.perf_counter() - began)

    (times, cpu), rate = load(asked, 5000, others)
    told(f"ask at {rate:.0f} writes a second to 5,000 others", times, "p99 100")
    say("  cpu meanwhile", f"{cpu:.2f} cores")
    times, rate = load(lambda: write_then_ask(client, own, ROUNDS * 20), 5000, others)
    told(f"write, then ask at {rate:.0f} writes a second", times, "p99 250")
    daemon.wait_quiet()
    (times, cpu), rate = load(asked, 1000, [9000])
    told(f"ask while another file is rewritten {rate:.0f} times a second", times, "p99 100")
    say("  cpu meanwhile", f"{cpu:.2f} cores", "<= 1")
    git(TREE, "checkout", "--quiet", "--", ".")
    daemon.client.ask("index", {})
    daemon.stop()
    audit()


say("what else the machine does", f"{os.getloadavg()[0]:.1f} processes on {os.cpu_count()} cores", "< 0.5")
{"documents": documents, "tree": tree, "latency": latency}[PART]()
