#!/usr/bin/env python3
"""Load on `tunemix serve`: requests of one 100-document query each over keep-alive connections, for some time.

  load.py PORT DATA [--seconds 60] [--connections 8] [--documents 100] [--kind json|letor] [--path /rank]

DATA is a LETOR file of the bundle's features; its documents are dealt to queries in their order. Prints latencies as the client
sees them, requests and documents a second, answers that are not 200, and the server's memory before, at half time and after.
"""
import argparse
import json
import re
import socket
import sys
import threading
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True
from program import documents  # noqa: E402

options = argparse.ArgumentParser()
options.add_argument("port", type=int)
options.add_argument("data")
options.add_argument("--seconds", type=float, default=60)
options.add_argument("--connections", type=int, default=8)
options.add_argument("--documents", type=int, default=100)
options.add_argument("--kind", choices=["json", "letor"], default="json")
options.add_argument("--path", default="/rank")
args = options.parse_args()


def requests():
    rows = []
    for document in documents(args.data):
        rows.append(document.features)
        if len(rows) == args.documents * 64:
            break
    features = max(int(word.split(":")[0]) for row in rows for word in row)
    for begin in range(0, len(rows) - args.documents + 1, args.documents):
        some = rows[begin : begin + args.documents]
        if args.kind == "letor":
            body = "".join("0 qid:1 %s\n" % " ".join(row) for row in some)
            kind = "text/plain"
        else:
            documents = []
            for i, row in enumerate(some):
                values = [0.0] * features
                for word in row:
                    feature, value = word.split(":")
                    values[int(feature) - 1] = float(value)
                documents.append({"id": "d%d" % i, "features": values})
            body = json.dumps({"qid": "1", "documents": documents})
            kind = "application/json"
        body = body.encode()
        head = "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (args.path, kind, len(body))
        yield head.encode() + body


def answer(connection, buffer):
    """The status of the next answer; what came after it stays in the buffer."""
    while b"\r\n\r\n" not in buffer:
        more = connection.recv(1 << 16)
        if not more:
            raise ConnectionError
        buffer += more
    head, _, rest = bytes(buffer).partition(b"\r\n\r\n")
    length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
    while len(rest) < length:
        more = connection.recv(1 << 16)
        if not more:
            raise ConnectionError
        rest += more
    buffer[:] = rest[length:]
    return int(head.split()[1])


def memory():
    text = urllib.request.urlopen("http://127.0.0.1:%d/metrics" % args.port).read().decode()
    return int(re.search(r"^process_resident_memory_bytes (\d+)", text, re.M).group(1)) / 1e6


def client(number):
    connection = socket.create_connection(("127.0.0.1", args.port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    buffer = bytearray()
    k = number
    while time.monotonic() < end:
        start = time.monotonic()
        try:
            connection.sendall(bodies[k % len(bodies)])
            status = answer(connection, buffer)
        except OSError:
            errors.append("connection")
            return
        latencies[number].append(time.monotonic() - start)
        if status != 200:
            errors.append(status)
        k += 1


bodies = list(requests())
errors = []
latencies = [[] for _ in range(args.connections)]
end = time.monotonic() + 1  # warm up
client(0)
latencies[0].clear()
before = memory()
end = time.monotonic() + args.seconds
threads = [threading.Thread(target=client, args=(number,)) for number in range(args.connections)]
for thread in threads:
    thread.start()
time.sleep(args.seconds / 2)
half = memory()
for thread in threads:
    thread.join()
every = sorted(value for some in latencies for value in some)
print("%d connections, %.0f s, %d documents a query, %s of %.0f kB: %d requests, %d errors" % (
    args.connections, args.seconds, args.documents, args.kind, sum(map(len, bodies)) / len(bodies) / 1000, len(every), len(errors)))
print("latency ms: p50 %.2f  p90 %.2f  p99 %.2f  most %.2f" % tuple(1000 * every[min(len(every) - 1, int(len(every) * share))]
                                                                     for share in (0.5, 0.9, 0.99, 1)))
print("%.0f requests, %.0f documents a second" % (len(every) / args.seconds, len(every) * args.documents / args.seconds))
print("server memory MB: %.1f before, %.1f at half time, %.1f after" % (before, half, memory()))
if errors:
    print("errors:", sorted(set(map(str, errors))))
