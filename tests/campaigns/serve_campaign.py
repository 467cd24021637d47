# Hostile requests for `tunemix serve`, good ones beside them: serve_campaign.py PORT PID BUNDLE DATA SCORES COUNT SEED. Requests are
# drawn by number and seed: framing, sizes, slowness, JSON. Every good request must be answered right, every other by one answer or by
# the end of its connection; memory and descriptors must stay as they are. Prints a line of figures, or what went wrong (exit code 1).
#
# For a time instead: ... SECONDSs SEED FILE OTHER OTHER_SCORES. The file of the bundle is now another, now damaged, now as it was. A line
# every half minute has the seconds, requests so far, resident and held MB, descriptors, and the good requests' median and 99th percentile.
import itertools
import json
import os
import random
import socket
import sys
import threading
import time

port, pid, bundle, data, scores = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:6]
seconds = int(sys.argv[6][:-1]) if sys.argv[6].endswith("s") else 0
count, seed = 10**12 if seconds else int(sys.argv[6]), int(sys.argv[7])
good_body = open(data, "rb").read()
wanted = [[float(line) for line in open(file)] for file in (scores, *sys.argv[10:11])]
rank = "/rank/" + bundle
failure = []


def fail(*what):
    failure.append(" ".join(str(w) for w in what)[:2000])


def resident():
    return int(open("/proc/%d/statm" % pid).read().split()[1]) * os.sysconf("SC_PAGESIZE")


def descriptors():
    return len(os.listdir("/proc/%d/fd" % pid))


def exchange(pieces, pause=0.0):
    """Sends the pieces, and gives what comes until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
        try:
            for piece in pieces:
                sock.sendall(piece)
                if pause:
                    time.sleep(pause)
            sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        text = b""
        try:
            while piece := sock.recv(65536):
                text += piece
        except OSError:
            pass
        return text


def good():
    head = "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n"
    reply = exchange([(head % (rank, len(good_body))).encode() + good_body])
    try:
        got = [d["score"] for q in json.loads(reply.partition(b"\r\n\r\n")[2])["queries"] for d in q["documents"]]
    except (ValueError, KeyError):
        got = None
    if not reply.startswith(b"HTTP/1.1 200") or got not in wanted:
        fail("a good request got", reply[:300])


def a_value(draw, depth=0):
    """JSON, or nearly."""
    kind = draw.randrange(12 if depth < 5 else 8)
    if kind < 3:
        return draw.choice(["0", "1", "-1.5", "1e39", "1e999", "-", "1.", "01", "0.1e-5", "9" * draw.randrange(1, 400)])
    if kind < 5:
        return draw.choice(['""', '"x"', '"\\u0000"', '"\\ud800"', '"\xff"', '"', '"%s"' % ("y" * draw.randrange(3000))])
    if kind == 5:
        return draw.choice(["null", "true", "false", "nul", "NaN", "Infinity"])
    if kind == 6:
        return draw.choice(["[" * draw.randrange(5000), '{"documents":' * draw.randrange(500), "]", "}", ",", ""])
    if kind == 7:
        return '{"features": {%s}}' % ",".join('"%d": %s' % (draw.randrange(30), draw.choice("0123")) for _ in range(draw.randrange(5)))
    if kind < 10:
        return "[" + ",".join(a_value(draw, depth + 1) for _ in range(draw.randrange(5))) + "]"
    keys = ("queries", "documents", "qid", "id", "features", "scores", "1", "25", "26", "x", "")
    return "{" + ",".join('"%s": %s' % (draw.choice(keys), a_value(draw, depth + 1)) for _ in range(draw.randrange(5))) + "}"


def a_body(draw):
    kind = draw.randrange(4)
    if kind == 0:
        return a_value(draw).encode("utf-8", "replace")
    if kind == 1:
        return bytes(draw.randrange(256) for _ in range(draw.randrange(300)))
    body = bytearray(good_body[:draw.randrange(len(good_body))] if kind == 2 else
                     b'{"queries": [{"qid": "1", "documents": [{"id": "a", "features": {"1": 0.5, "25": 3}}]}]}')
    for _ in range(draw.randrange(8)):
        if body:
            body[draw.randrange(len(body))] = draw.randrange(256)
    return bytes(body)


def chunked(draw, body):
    text = b""
    while body:
        size = draw.randrange(1, len(body) + 1)
        text += (draw.choice(["%x", "%X", "000%x", "%x;a=b"]) % size).encode() + b"\r\n" + body[:size] + b"\r\n"
        body = body[size:]
    return text + draw.choice([b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"0\r\n", b"", b"1\r\n", b"0\r\n" + b"T: z\r\n" * 3000])


def a_request(draw):
    method = draw.choice(["GET", "POST", "POST", "POST", "PUT", "HEAD", "PATCH", "DELETE", "OPTIONS", "TRACE", "get", "X" * 30, ""])
    path = draw.choice([rank, rank, rank, "/rank", "/rank/none", "/health", "/metrics", "/", "*", "/../etc", "/%00", "/%", "http://a/health",
                        "/" + "x" * draw.randrange(12000), rank + "?" + "y" * 100])
    version = draw.choice(["HTTP/1.1"] * 8 + ["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "http/1.1", ""])
    body = a_body(draw)
    fields = ["Host: x"] * draw.choice([1, 1, 1, 1, 1, 0, 2])
    fields.append("Content-Type: " + draw.choice(["application/json", "text/plain", "text/xml", "", "multipart/form-data; boundary=b"]))
    framed = draw.randrange(6)
    if framed < 2:
        fields.append("Content-Length: %d" % len(body))
    elif framed == 2:
        fields.append("Transfer-Encoding: chunked")
        body = chunked(draw, body)
    elif framed == 3:
        fields.append("Content-Length: " + draw.choice(["abc", "-1", "99999999999999999999", str(len(body) + draw.randrange(-9, 9)), "1e3", ""]))
    elif framed == 4:
        fields.append("Transfer-Encoding: " + draw.choice(["chunked", "gzip, chunked", "identity", "chunked, chunked", "\x0bchunked"]))
        fields.append("Content-Length: %d" % len(body))
    for _ in range(draw.choice([0, 0, 0, 1, 2, 150])):
        fields.append(draw.choice(["X: y", "Range: bytes=" + "0-," * 300, "Expect: 100-continue", "Connection: close", "Connection: upgrade",
                                   "Upgrade: h2c", "Content-Encoding: gzip", "Cookie: " + "c" * draw.randrange(9000), "No colon", " folded",
                                   "Authorization: Bearer x", "\x00: \x01", "A" * 300 + ": b"]))
    draw.shuffle(fields)
    end = draw.choice(["\r\n"] * 12 + ["\n", "\r", ""])
    head = "%s %s %s%s%s" % (method, path, version, end, "".join(f + end for f in fields))
    raw = bytearray(head.encode("latin-1") + end.encode() + body)
    for _ in range(draw.choice([0, 0, 0, 1, 3])):
        raw[draw.randrange(len(raw))] = draw.randrange(256)
    return bytes(raw[:draw.randrange(len(raw) + 1)] if draw.randrange(5) == 0 else raw)


def hostile(number):
    draw = random.Random("%d %d" % (seed, number))
    raw = b"".join(a_request(draw) for _ in range(draw.choice([1, 1, 1, 1, 2, 5])))
    if draw.randrange(500) == 0:
        raw += b"x" * draw.randrange(1 << 24)
    cuts = sorted(draw.randrange(len(raw) + 1) for _ in range(draw.choice([0, 0, 0, 1, 5])))
    pieces = [raw[a:b] for a, b in zip([0] + cuts, cuts + [len(raw)])]
    reply = exchange(pieces, draw.choice([0, 0, 0, 0.001]))
    if reply and not reply.startswith(b"HTTP/1.1 "):
        fail("request", number, "got", reply[:300])


numbers = iter(range(count))
sent = [0]
lock = threading.Lock()
ended = threading.Event()
waited = []  # by good requests


def attack():
    while not failure and not ended.is_set():
        with lock:
            number = next(numbers, None)
            sent[0] += number is not None
        if number is None:
            return
        if seconds:
            time.sleep(0.02)
        try:
            hostile(number)
        except OSError as error:
            fail("request", number, "failed:", error)


def ask():
    while not ended.is_set() and not failure:
        start = time.time()
        try:
            good()
        except OSError as error:
            fail("a good request failed:", error)
        waited.append(time.time() - start)
        time.sleep(0.02 if seconds else 0.005)


def dawdle():
    """Keeps forty clients that send a byte now and then."""
    draw = random.Random(seed)
    socks = []
    while not ended.is_set():
        while len(socks) < 40:
            try:
                socks.append(socket.create_connection(("127.0.0.1", port), timeout=5))
                raw = a_request(draw)
                socks[-1].sendall(raw[:draw.randrange(len(raw) + 1)])
            except OSError:
                socks = socks[:-1]
        for sock in list(socks):
            try:
                sock.sendall(b"1")
            except OSError:
                sock.close()
                socks.remove(sock)
        time.sleep(0.2)
    for sock in socks:
        sock.close()


def swap():
    """The bundle's file changes its content, as one that is renamed into place."""
    file, other = sys.argv[8:10]
    own, others = open(file, "rb").read(), open(other, "rb").read()
    for content in itertools.cycle((others, own[: len(own) // 2], own)):
        if ended.wait(20):
            break
        with open(file + ".new", "wb") as out:
            out.write(content)
        os.rename(file + ".new", file)


def tell():
    """A line of figures every half minute."""
    begin = time.time()
    told = 0
    while not ended.wait(30):
        recent = sorted(waited[told:])
        told = len(waited)
        metrics = exchange([b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"]).decode()
        held = float(metrics.partition("\ntunemix_held_bytes ")[2].split()[0])
        print("%d\t%d\t%d\t%.1f\t%.1f\t%d\t%.1f\t%.1f" % (time.time() - begin, sent[0], told, resident() / 1e6, held / 1e6, descriptors(),
                                                         1e3 * recent[len(recent) // 2], 1e3 * recent[len(recent) * 99 // 100]), flush=True)


for _ in range(50):
    good()
time.sleep(0.5)
start_bytes, start_descriptors = resident(), descriptors()
begin = time.time()
others = [threading.Thread(target=work) for work in (ask, dawdle) + ((swap, tell) if seconds else ())]
attackers = [threading.Thread(target=attack) for _ in range(6)]
for thread in others + attackers:
    thread.start()
if seconds:
    threading.Timer(seconds, ended.set).start()
most_bytes = most_descriptors = 0
while any(thread.is_alive() for thread in attackers):
    most_bytes, most_descriptors = max(most_bytes, resident()), max(most_descriptors, descriptors())
    time.sleep(0.2)
took = time.time() - begin
ended.set()
for thread in others:
    thread.join()
good()
for _ in range(100):
    if descriptors() <= start_descriptors:
        break
    time.sleep(0.2)
if descriptors() > start_descriptors:
    fail("descriptors before and after:", start_descriptors, descriptors())
if resident() > start_bytes + (48 << 20):
    fail("resident bytes before and after:", start_bytes, resident())
if failure:
    print(failure[0])
    sys.exit(1)
print("%d hostile and %d good requests in %.0f s; MB resident before %.1f, at most %.1f, after %.1f; descriptors %d, %d, %d" %
      (sent[0], len(waited), took, start_bytes / 1e6, most_bytes / 1e6, resident() / 1e6, start_descriptors, most_descriptors, descriptors()))
