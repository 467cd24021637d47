# What no client should do to `tunemix serve`: serve_attacks.py PORT PID BUNDLE DATA SCORES ATTACK. Prints what went wrong and exits
# with 1, or says "all well".
import json
import os
import socket
import sys
import threading
import time

port, pid, bundle, data, scores, attack = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:7]
good_body = open(data, "rb").read()
wanted = [float(line) for line in open(scores)]


def check(good, *what):
    if not good:
        print(*what)
        os._exit(1)


def connect(patience=60):
    return socket.create_connection(("127.0.0.1", port), timeout=patience)


def everything(sock):
    """All that comes until the server closes."""
    text = b""
    try:
        while True:
            piece = sock.recv(65536)
            if not piece:
                return text
            text += piece
    except ConnectionError:
        return text


def ask(raw):
    with connect() as sock:
        try:
            sock.sendall(raw)
        except ConnectionError:
            pass
        return everything(sock)


def resident():
    return int(open("/proc/%d/statm" % pid).read().split()[1]) * os.sysconf("SC_PAGESIZE")


def post(body, path="/rank/" + bundle, kind="text/plain"):
    return ("POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
            % (path, kind, len(body))).encode() + body


def expect_good():
    head, _, body = ask(post(good_body)).partition(b"\r\n\r\n")
    check(head.startswith(b"HTTP/1.1 200"), "a good request has", head[:200], body[:200])
    got = [d["score"] for q in json.loads(body)["queries"] for d in q["documents"]]
    check(got == wanted, "other scores")


def expect_health():
    reply = ask(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    check(b'"status":"ok"' in reply, "health:", reply[:200])


def refused(raw, statuses=(400,)):
    """One answer of one of these statuses, and the end of the connection."""
    reply = ask(raw)
    check(reply.count(b"HTTP/1.1 ") == 1 and int(reply.split()[1]) in statuses, raw[:300], "->", reply[:500])
    check(b"\r\nConnection: close\r\n" in reply and b'"error":' in reply, raw[:300], "->", reply[:500])


SMUGGLED = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"


def framing():
    def request(method="POST", path="/rank/" + bundle, fields=(), body=b"", version="1.1", host="Host: x\r\n"):
        head = "%s %s HTTP/%s\r\n%s%s" % (method, path, version, host, "".join(f + "\r\n" for f in fields))
        return head.encode() + b"\r\n" + body

    length = ["Content-Length: %d" % len(SMUGGLED)]
    for method in ("GET", "HEAD"):
        reply = ask(request(method, "/health", length, SMUGGLED))
        check(reply.startswith(b"HTTP/1.1 400") and reply.count(b"HTTP/1.1 ") == 1, method, reply)
    refused(request("GET", "/health", ["Transfer-Encoding: chunked"], b"5\r\nabcde\r\n0\r\n\r\n" + SMUGGLED))
    refused(request("DELETE", "/health", length, SMUGGLED), (405,))
    refused(request("POST", "/nothing", length, SMUGGLED), (404,))
    for bad in ("abc", "-1", "+3", "3 3", "0x3", "99999999999999999999", "", "3, 4"):
        refused(request(fields=["Content-Length: " + bad], body=SMUGGLED))
    refused(request(fields=["Content-Length: 3", "Content-Length: 4"], body=b"abcd" + SMUGGLED))
    refused(request(fields=["Content-Length: 3", "Transfer-Encoding: chunked"], body=b"3\r\nabc\r\n0\r\n\r\n" + SMUGGLED))
    refused(request(fields=["Transfer-Encoding: chunked", "Content-Length: 3"], body=b"3\r\nabc\r\n0\r\n\r\n" + SMUGGLED))
    for coding in ("gzip, chunked", "xchunked", "chunked, chunked", "identity", "chunked;q=1"):
        refused(request(fields=["Transfer-Encoding: " + coding], body=b"3\r\nabc\r\n0\r\n\r\n" + SMUGGLED))
    refused(request(fields=["Transfer-Encoding: chunked"], version="1.0", body=b"0\r\n\r\n"))
    for chunks in (b"xyz\r\nabc\r\n", b"3\r\nabcX\r\n", b"-3\r\nabc\r\n", b"f" * 20 + b"\r\nabc\r\n", b"3 \n", b"\r\n",
                   b"1" * 100000, b"1;" + b"x" * 100000):
        refused(request(fields=["Transfer-Encoding: chunked"], body=chunks + SMUGGLED))
    for host in ("", "Host: a\r\nHost: b\r\n"):
        refused(request("GET", "/health", host=host))
    refused(b"GET /health HTTP/1.1\r\nHost : x\r\n\r\n")
    refused(b"GET /health HTTP/1.1\nHost: x\n\n")
    refused(b"GET /health HTTP/2.0\r\nHost: x\r\n\r\n")
    refused(b"GET /" + b"x" * 100000, (414,))
    refused(b"GET /health HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 100000, (431,))
    refused(b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 200 + b"\r\n")
    refused(request(fields=["Content-Encoding: gzip"] + length, body=SMUGGLED), (415,))
    refused(request(fields=["Expect: a miracle"] + length, body=SMUGGLED), (417,))
    refused(request(fields=["Content-Length: 100000000000"], body=b"x" * 1000000), (413,))
    reply = ask(request("GET", "/health", ["Connection: close", "Range: bytes=" + ",".join("0-" for _ in range(500))]))
    check(reply.startswith(b"HTTP/1.1 200") and len(reply) < 10000, reply[:300])
    reply = ask(request("GET", "/%68ealth?x=1", ["Connection: close"]))
    check(reply.startswith(b"HTTP/1.1 200"), reply[:300])
    reply = ask(request("GET", "http://x/health", ["Connection: close"]))
    check(reply.startswith(b"HTTP/1.1 200"), reply[:300])
    check(ask(request("GET", "/h%zz", ["Connection: close"])).startswith(b"HTTP/1.1 400"), "a wrong escape")
    # A client that waits to be told gets the word, and then its answer; several requests at once get theirs in turn.
    with connect() as sock:
        body = good_body
        sock.sendall(request(fields=["Expect: 100-continue", "Connection: close", "Content-Type: text/plain",
                                     "Content-Length: %d" % len(body)]))
        check(sock.recv(1000).startswith(b"HTTP/1.1 100"), "no word to go on")
        sock.sendall(body)
        check(everything(sock).startswith(b"HTTP/1.1 200"), "no answer after the word to go on")
    reply = ask(request("GET", "/health") * 3 + request("GET", "/health", ["Connection: close"]))
    check(reply.count(b"HTTP/1.1 200") == 4, "several requests at once:", reply)
    expect_good()


def memory():
    """Long bodies, heads and lines on any address: nothing beyond the limits is kept."""
    expect_good()
    before = resident()
    most = [0]
    megabyte = b"x" * (1 << 20)

    def send(head, piece, pieces=400):
        with connect() as sock:
            try:
                sock.sendall(head)
                for _ in range(pieces):
                    sock.sendall(piece)
                    most[0] = max(most[0], resident())
            except OSError:
                return
            sock.shutdown(socket.SHUT_WR)
            everything(sock)

    chunk = b"100000\r\n" + megabyte + b"\r\n"
    attacks = []
    for method in ("POST", "PUT", "PATCH", "GET", "DELETE"):
        for path in ("/health", "/metrics", "/nothing", "/rank/" + bundle, "/rank/none"):
            start = "%s %s HTTP/1.1\r\nHost: x\r\n" % (method, path)
            attacks.append(((start + "Transfer-Encoding: chunked\r\n\r\n").encode(), chunk))
            attacks.append(((start + "Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n").encode(),
                            b"a\r\n--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n".rjust(0x100000).join([b"100000\r\n", b"\r\n"])))
    attacks.append((b"GET /", megabyte))
    attacks.append((b"GET / HTTP/1.1\r\n", b"".join(b"h%d: x\r\n" % i for i in range(100000))))
    attacks.append((b"GET / HTTP/1.1\r\nX: ", megabyte))
    attacks.append((b"POST /rank/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", b"1" * (1 << 20)))
    attacks.append((b"POST /rank/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;", megabyte))
    attacks.append((b"POST /rank/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"trailer: x\r\n" * 80000))
    queue = list(attacks)
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                if not queue:
                    return
                one = queue.pop()
            send(*one)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect_good()
    check(most[0] < before + (64 << 20), "resident bytes before, at most, after:", before, most[0], resident())
    check(resident() < before + (32 << 20), "resident bytes before, at most, after:", before, most[0], resident())


def slow():
    """A byte now and then: neither the server's health nor good requests wait, and the slow ones are left."""
    starts = [b"", b"GET /hea", b"GET /health HTTP/1.1\r\nX: y", b"POST /rank/%s HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" % bundle.encode(),
              b"POST /rank/%s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n" % bundle.encode()]
    socks = [connect() for _ in range(80)]
    for i, sock in enumerate(socks):
        sock.sendall(starts[i % len(starts)])
    begin = time.time()
    left = set(range(len(socks)))
    while any(starts[i % len(starts)] for i in left):
        check(time.time() < begin + 50, "slow clients are still there:", sorted(left))
        expect_health()
        expect_good()
        for i in list(left):
            try:
                if starts[i % len(starts)]:
                    socks[i].sendall(b"1")
                socks[i].settimeout(0.001)
                if socks[i].recv(1000) == b"":
                    left.discard(i)
            except TimeoutError:
                pass
            except OSError:
                left.discard(i)
        time.sleep(0.5)


def crowd():
    """Far more connections than places, silent, and with bodies that fill what may be held: good requests go on."""
    body = b" " * 900000
    start = b"POST /rank/%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n" % bundle.encode()
    held = []
    for i in range(200):
        sock = connect()
        held.append(sock)
        if i % 4 != 0:
            continue
        try:
            sock.sendall(start + body)
        except OSError:
            pass
        if i % 40 == 0:
            expect_health()
            expect_good()
    expect_health()
    expect_good()
    metrics = ask(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").decode()
    gave_way = int(metrics.partition('closed_total{reason="crowd"} ')[2].split()[0])
    check(gave_way >= 100, "only", gave_way, "gave way")


def starve():
    """Its allocations fail now and then: an answer is right or there is none; the service lives."""
    one = ('{"documents": [{"features": {"1": 2}}, {"features": {"1": 3}}]}').encode()
    right = 0
    for i in range(300):
        if i % 100 == 50:
            os.utime("runs/tiny/bundle-fold1.tmx")
        body, kind = (good_body, "text/plain") if i % 3 == 0 else (one, "application/json")
        reply = ask(post(body, kind=kind) if i % 7 else b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        check(reply == b"" or reply.startswith((b"HTTP/1.1 200", b"HTTP/1.1 500")), reply[:300])
        if i % 3 == 0 and i % 7 and reply.startswith(b"HTTP/1.1 200"):
            got = [d["score"] for q in json.loads(reply.partition(b"\r\n\r\n")[2])["queries"] for d in q["documents"]]
            check(got == wanted, "other scores")
        right += reply.startswith(b"HTTP/1.1 200")
    print("%d of 300 answered;" % right, end=" ")


{"framing": framing, "starve": starve, "memory": memory, "slow": slow, "crowd": crowd}[attack]()
print("all well")
