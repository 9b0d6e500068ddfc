"""Four agents of four tiers on one project, driven through slop's daemon.

The program creates a small project in a temporary folder, starts a daemon for it, and runs four turns. Between the
turns, files are edited, added and removed, the cache is cleared, and slop.toml is temporarily invalid. Each agent has
its own masks, slices or preset, which are part of its requests and not written to slop.toml. The conversation is part
of the requests too.

Every answer is checked against the files: it must be fresh, have the SHA-256 of each file on disk, and contain no
removed line and nothing that the agent's mask hides. The program prints a transcript and fails at the first stale byte.

Usage: python3 examples/orchestrator.py
It needs Python 3.9, and slop in PATH or in the variable SLOP.
"""

import hashlib
import http.client
import json
import os
import pathlib
import socket
import subprocess
import tempfile

SLOP = os.environ.get("SLOP", "slop")

FILES = {
    "README.md": "# Station\n\nKeeps the readings of a weather station.\n",
    "station/ring.py": (
        '"""A ring of readings."""\n\n\nclass Ring:\n    """Forgets the oldest reading."""\n\n'
        "    def push(self, reading):\n        self.slots[self.next] = reading  # edit 0\n\n"
        "    def mean(self):\n        return sum(self.slots) / len(self.slots)  # edit 0\n\n"
        '    def _token(self):\n        return "hunter2"\n'
    ),
    "station/report.py": (
        '"""Reports."""\n\nfrom station.ring import Ring\n\n\n'
        'def report(ring):\n    """Returns a line of text."""\n    return f"mean {ring.mean():.1f}"  # edit 0\n\n\n'
        "def publish(line):\n    print(line)  # edit 0\n"
    ),
    "station/legacy.py": "def old_report(ring):\n    return str(ring)  # edit 0\n",
    "tests/test_ring.py": (
        "from station.ring import Ring\n\n\ndef test_mean():\n    ring = Ring()\n    assert ring.mean() == 0  # edit 0\n"
    ),
    "slop.toml": '[[files]]\npath = "README.md"\nview_mode = "outline"\n',
}

# The requests of each agent. The keys of `choice` and `attachments` may be at the top level of a request.
AGENTS = {
    "orchestrator": {"tier": 1},
    "lead": {
        "tier": 2,
        "preset": {"files": ["README.md", {"path": "station", "ast_signatures": True}]},
    },
    "worker": {
        "persona": {"name": "worker", "tier": 3, "focus": ["station/report.py"], "budget_tokens": 4000},
        "items": [{"path": "station/ring.py", "ast_mask": {"Ring._token": "hide"}}],
    },
    "tester": {
        "tier": 4,
        "files": ["station", "tests"],
        "items": [
            {"path": "station/ring.py", "ast_mask": {"Ring.mean": "def"}},
            {"path": "tests/*.py", "force_full": True},
        ],
    },
}

# Text that an agent must never receive, because its mask hides it.
HIDDEN = {"worker": ["_token", "hunter2"], "tester": ["_token", "hunter2", "def push"]}


class SocketConnection(http.client.HTTPConnection):
    """HTTP over the daemon's Unix socket."""

    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self.path))


class Project:
    """The files on disk, and the lines that edits have removed."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.gone = set()
        for path, text in FILES.items():
            self.write(path, text)

    def write(self, path, text):
        file = self.root / path
        if file.exists():
            self.gone |= set(file.read_text().splitlines()) - set(text.splitlines())
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def edit(self, path, old, new):
        text = (self.root / path).read_text()
        assert old in text, (path, old)
        self.write(path, text.replace(old, new))
        print(f"  edit    {path}: {old} -> {new}")

    def remove(self, path):
        self.gone |= set((self.root / path).read_text().splitlines())
        (self.root / path).unlink()
        print(f"  remove  {path}")

    def slop(self, *arguments):
        finished = subprocess.run(
            [SLOP, "--project", str(self.root), *arguments], check=True, capture_output=True, text=True
        )
        return finished.stdout

    def ask(self, route, body):
        """Sends a query and returns the envelope of the answer, which has the key `error` if the query failed."""
        connection = SocketConnection(self.root / ".slop_cache" / "daemon.sock")
        connection.request("POST", route, json.dumps(body), {"Content-Type": "application/json"})
        envelope = json.load(connection.getresponse())
        connection.close()
        return envelope

    def sha256(self, path):
        return hashlib.sha256((self.root / path).read_bytes()).hexdigest()


class Session:
    """The agents' conversation, and the results of checking their answers."""

    def __init__(self, project):
        self.project = project
        self.messages = []
        self.prefixes = {}
        self.answers = 0

    def say(self, agent, text):
        self.messages.append({"role": agent, "content": text})

    def turn(self, title):
        """Requests a document for every agent, and prints what it shows."""
        print(title)
        notes = []
        for agent, question in AGENTS.items():
            envelope = self.project.ask("/v1/aggregate", {**question, "name": agent, "history": self.messages})
            document = self.check(agent, envelope)
            for message in self.messages:
                assert message["content"] in document["text"], (agent, message)
            notes += [note for note in envelope["notes"] if note not in notes]
            prefix = document["text"].split("## Discussion History")[0].rstrip()
            kept = self.prefixes.get(agent) == prefix
            self.prefixes[agent] = prefix
            print(f"  {agent:<12}  prefix {'unchanged' if kept else 'new'}")
            for view, paths in by_view(document["receipt"]["files"]):
                print(f"    {view:<14}  {', '.join(paths)}")
        for note in notes:
            print("  note    " + note.replace(str(self.project.root) + "/", ""))

    def check(self, agent, envelope):
        """Compares an answer with the files, and returns its document."""
        assert envelope["freshness"] == "fresh", envelope
        document = envelope["data"]
        for file in document["receipt"]["files"]:
            assert file["sha256"] == self.project.sha256(file["path"]), file
        # A line that begins with a minus is part of a diff, and shows what was removed.
        lines = [line for line in document["text"].splitlines() if not line.startswith("-")]
        stale = [line for line in lines if line.strip() and line in self.project.gone]
        assert not stale, (agent, stale)
        for word in HIDDEN.get(agent, []):
            assert word not in document["text"], (agent, word)
        self.answers += 1
        return document


def by_view(files):
    """Returns the paths of files by their views."""
    views = {}
    for file in files:
        views.setdefault(file["view"], []).append(file["path"])
    return [(view, sorted(paths)) for view, paths in sorted(views.items())]


def play(project):
    session = Session(project)
    session.turn("turn 1: the project as it was found")

    session.say("orchestrator", "The mean of an empty ring must be 0.")
    session.turn("turn 2: the orchestrator speaks, and no file changes")

    print("between the turns")
    project.edit("station/ring.py", "len(self.slots)  # edit 0", "max(1, len(self.slots))  # edit 1")
    project.edit("station/report.py", "print(line)  # edit 0", "print(line, flush=True)  # edit 1")
    project.remove("station/legacy.py")
    project.write("station/clock.py", "def now():\n    return 0  # edit 0\n")
    print("  add     station/clock.py")
    project.slop("cache", "clear", "--yes")
    print("  run     slop cache clear --yes")
    session.say("worker", "Done: mean divides by at least 1.")
    session.turn("turn 3: after the edits, from an empty cache")

    print("between the turns")
    good = (project.root / "slop.toml").read_text()
    project.write("slop.toml", good + "[[files]\n")
    print("  break   slop.toml: [[files]")
    project.edit("tests/test_ring.py", "# edit 0", "# edit 1")
    session.say("tester", "The test passes.")
    session.turn("turn 4: slop.toml is broken, and answers go on")
    project.write("slop.toml", good)
    print("  mend    slop.toml")

    changes = {**AGENTS["worker"], "name": "worker", "since_last": True}
    project.edit("station/report.py", "# edit 1", "# edit 2")
    document = session.check("worker", project.ask("/v1/aggregate", changes))
    print("what the worker does not have yet")
    for line in document["text"].splitlines():
        if line.startswith(("###", "@@", "+", "-")):
            print("  " + line)

    wrong = {"tier": 3, "items": [{"path": "station"}, {"path": "tests", "view_mode": "skelton"}]}
    error = project.ask("/v1/aggregate", wrong)["error"]
    print(f"a wrong entry: {error['code']}: {error['message'].split(', expected')[0]}")
    print(f"{session.answers} answers, no stale byte")


def main():
    with tempfile.TemporaryDirectory() as folder:
        project = Project(os.path.realpath(folder))
        project.slop("daemon", "start")
        try:
            play(project)
        finally:
            project.slop("daemon", "stop")


if __name__ == "__main__":
    main()
