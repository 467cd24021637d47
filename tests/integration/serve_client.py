# A client of `tunemix serve`: serve_client.py PORT BUNDLE_A BUNDLE_B DATA SCORES. BUNDLE_B is the file behind the name b, which
# is changed on the way. Prints what went wrong and exits with 1, or says "all well".
import http.client
import json
import os
import re
import shutil
import socket
import sys
import threading
import time

port, bundle_a, bundle_b, data, scores = int(sys.argv[1]), *sys.argv[2:6]


def check(good, *what):
    if not good:
        print(*what)
        sys.exit(1)


def call(method, path, body=None, headers={}):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


def post(path, body, kind="application/json"):
    status, text = call("POST", path, body, {"Content-Type": kind})
    return status, json.loads(text)


def refused(status, path, body, words, kind="application/json"):
    got, reply = post(path, body, kind)
    check(got == status and words in reply.get("error", ""), "expected", status, words, "for", str(body)[:200], "got", got, reply)


# The same scores as `predict`, from LETOR text and from JSON with dense and sparse features.
wanted = [float(line) for line in open(scores)]
status, reply = post("/rank/a", open(data).read(), "text/plain; charset=utf-8")
check(status == 200, status, reply)
answered = [document for query in reply["queries"] for document in query["documents"]]
check([d["score"] for d in answered] == wanted, "other scores of LETOR text")
check(reply["bundle"] == "a", reply["bundle"])
queries = {}
features = 0
for line in open(data):
    words = line.split("#")[0].split()
    values = {word.split(":")[0]: float(word.split(":")[1]) for word in words[2:]}
    features = max(features, *map(int, values))
    queries.setdefault(words[1][4:], []).append(values)
dense = {"queries": [{"qid": qid, "documents": [{"id": "d%d" % i, "features": [d.get(str(j + 1), 0) for j in range(features)]}
                                                for i, d in enumerate(documents)]} for qid, documents in queries.items()]}
sparse = {"queries": [{"documents": [{"features": {k: v for k, v in d.items() if v != 0}} for d in documents], "qid": int(qid)}
                      for qid, documents in queries.items()]}
named = {"queries": [{"qid": qid, "documents": [{"features": {k if int(k) == features else f"merkmal größe {k}": v for k, v in d.items()}}
                                                for d in documents]} for qid, documents in queries.items()]}
for request in (dense, sparse, named):
    status, reply = post("/rank/a", json.dumps(request))
    check(status == 200, status, reply)
    check([d["score"] for q in reply["queries"] for d in q["documents"]] == wanted, "other scores of JSON")
    for asked, query in zip(queries.items(), reply["queries"]):
        check(query["qid"] == asked[0] and len(query["documents"]) == len(asked[1]), "other queries")
        order = sorted(range(len(query["documents"])), key=lambda i: -query["documents"][i]["score"])
        check([query["documents"][i]["rank"] for i in order] == list(range(1, len(order) + 1)), "ranks are not those of the scores")
status, reply = post("/rank/b", json.dumps(dense["queries"][0]))  # one query alone
check(status == 200 and reply["queries"][0]["documents"][0]["id"] == "d0", status, reply)

# A missing value is null; left out it would be 0.
missing = [{j for j in range(features) if (i + j) % 5 == 0} for i in range(len(dense["queries"][0]["documents"]))]
values = [d["features"] for d in dense["queries"][0]["documents"]]
by_number = [{str(j + 1): None if j in gone else v for j, v in enumerate(row)} for row, gone in zip(values, missing)]
by_place = [[None if j in gone else v for j, v in enumerate(row)] for row, gone in zip(values, missing)]
as_text = "".join("0 qid:1 %s\n" % " ".join("%d:%s" % (j + 1, "nan" if j in gone else repr(v)) for j, v in enumerate(row))
                  for row, gone in zip(values, missing))
replies = [post("/rank/a", json.dumps({"documents": [{"features": row} for row in rows]})) for rows in (by_number, by_place)]
replies.append(post("/rank/a", as_text, "text/plain"))
check(all(status == 200 for status, _ in replies), replies)
scored = [[d["score"] for d in reply["queries"][0]["documents"]] for _, reply in replies]
check(scored[0] == scored[1] == scored[2] != wanted[:len(values)], "other scores with missing values", scored)

# Malformed, unknown, too large: 4xx and a sentence; the service goes on.
one = dense["queries"][0]["documents"][0]["features"]
refused(400, "/rank/a", "", "not JSON")
refused(400, "/rank/a", "{", "not JSON at byte")
refused(400, "/rank/a", '{"documents": [{"features": [1e999]}]}', "overflows")
refused(400, "/rank/a", "[1]", "the request is a list")
refused(400, "/rank/a", "{}", "no documents")
refused(400, "/rank/a", '{"queries": []}', '"documents"')
refused(400, "/rank/a", '{"documents": []}', "no documents")
refused(400, "/rank/a", '{"documents": [{"id": "x"}]}', 'no "features"')
refused(400, "/rank/a", '{"documents": [{"features": [1, 2]}]}', "has 2 features; the bundle expects %d" % features)
refused(400, "/rank/a", json.dumps({"documents": [{"features": one + [1]}]}), "more than %d features" % features)
refused(400, "/rank/b", '{"documents": [{"features": {"%d": 1}}]}' % (features + 1), "expected a number from 1 to %d" % features)
refused(400, "/rank/b", '{"documents": [{"features": {"bm25": 1}}]}', "document 1 has the feature 'bm25'; expected a number from 1 to")
refused(400, "/rank/a", '{"documents": [{"features": {}}, {"features": {"bm25": 1}}]}',
        "document 2 has the feature 'bm25'; expected a name that the bundle knows, or a number from 1 to %d" % features)
for unknown in (str(features + 1), "9" * 30, "", "1x", "-1", "x" * 1000, "\u0000"):
    refused(400, "/rank/a", json.dumps({"documents": [{"features": {unknown: 1}}]}), "expected a name that the bundle knows")
refused(400, "/rank/a", '{"documents": [{"features": {"3": 1}}, {"features": {"3": 1, "merkmal größe 3": 1}}]}'.encode(),
        "document 2 has feature 3 twice, the second time as 'merkmal gr")
refused(400, "/rank/a", '{"documents": [{"features": {"0": 1}}]}', "from 1 to")
refused(400, "/rank/a", '{"documents": [{"features": ["x"]}]}', "expected numbers")
refused(400, "/rank/a", '{"documents": [{"features": [null]}]}', "has 1 features; the bundle expects %d" % features)
refused(400, "/rank/a", json.dumps({"documents": [{"features": one + [None]}]}), "more than %d features" % features)
refused(400, "/rank/a", '{"documents": [{"id": null, "features": {}}]}', "null")
refused(400, "/rank/a", '{"documents": [null]}', "null")
refused(400, "/rank/a", '{"documents": [{"features": [1e39]}]}', "finite")
refused(400, "/rank/a", '{"documnets": []}', "not known")
refused(400, "/rank/a", '{"documents": [{"features": {}, "features": {}}]}', "twice")
refused(400, "/rank/a", "[" * 1000000, "list")
refused(400, "/rank/a", '{"documents":' * 100000, "object")
refused(400, "/rank/a", '{"documents": [{"features": ' + "[" * 1000000, "list")
refused(400, "/rank/a", "\xff\x00", "not JSON")
refused(400, "/rank/a", "0 1:2\n", "qid", "text/plain")
refused(400, "/rank/a", "0 qid:1 %d:2\n" % (features + 1), "feature id", "text/plain")
refused(400, "/rank/a", "0 qid:1 1:1\n0 qid:2 1:1\n0 qid:1 1:1\n", "next to each other", "text/plain")
refused(400, "/rank/a", "", "no documents", "text/plain")
refused(415, "/rank/a", "<x/>", "Content-Type", "text/xml")
refused(404, "/rank/c", "{}", "there are: a, b")
refused(404, "/rank", "{}", "several bundles")
refused(413, "/rank/a", "0 qid:1 1:1\n" * 1001, "more than 1000 documents", "text/plain")
refused(413, "/rank/a", json.dumps({"documents": [{"features": {}}] * 1001}), "more than 1000 documents")
refused(413, "/rank/a", " " * 3000000, "2000000 bytes")
for kind in ("application/jsonx", "text/plainer", ""):
    refused(415, "/rank/a", "{}", "Content-Type", kind)
for kind, body in (("Application/JSON;charset=UTF-8", json.dumps(dense)), ("TEXT/plain", open(data).read())):
    status, reply = post("/rank/a", body, kind)
    check(status == 200, kind, status, reply)
one_query = dense["queries"][0]
for parts in (("queries", "qid"), ("qid", "queries"), ("queries", "documents"), ("documents", "queries")):
    body = json.dumps({part: [one_query] if part == "queries" else one_query[part] for part in parts})
    refused(400, "/rank/a", body, 'has "queries" beside')
for method, path in (("GET", "/nothing"), ("POST", "/nothing"), ("PUT", "/rank/a/b"), ("GET", "/rank/")):
    status, text = call(method, path)
    check(status == 404 and json.loads(text)["error"], method, path, status, text)
for method, path, allowed in (("PUT", "/rank/a", "POST"), ("GET", "/rank/a", "POST"), ("DELETE", "/rank", "POST"),
                              ("OPTIONS", "/rank", "POST"), ("POST", "/health", "GET, HEAD"), ("PUT", "/metrics", "GET, HEAD")):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path)
    response = connection.getresponse()
    text = response.read().decode()
    check(response.status == 405 and response.getheader("Allow") == allowed and "expected " + allowed in json.loads(text)["error"],
          method, path, response.status, response.getheader("Allow"), text)
    connection.close()
check(call("HEAD", "/health") == (200, ""), "HEAD")
check(call("GET", "/" + "x" * 10000)[0] == 414, "a long address")
chunks = (b" " * 100000 for _ in range(30))  # no length is told
connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
connection.request("POST", "/rank/a", chunks, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}, encode_chunked=True)
response = connection.getresponse()
check(response.status == 413 and response.getheader("Connection") == "close", "chunks", response.status)
response.read()
connection.close()
for garbage in (b"\x00\xff\xfe\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"POST /rank/a HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
                b"POST /rank/a HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        try:
            raw.sendall(garbage)
            raw.shutdown(socket.SHUT_WR)
            reply = raw.recv(100)
        except ConnectionError:
            reply = b""
        check(reply == b"" or reply.split()[1].startswith(b"4"), garbage, reply)

# Reload: requests under way see one bundle or the other; a bad file changes nothing.
status, text = call("GET", "/health")
health = json.loads(text)
check(status == 200 and health["status"] == "ok" and [b["name"] for b in health["bundles"]] == ["a", "b"], text)


def scores_of_b():
    status, reply = post("/rank/b", json.dumps(dense))
    check(status == 200, status, reply)
    return [d["score"] for q in reply["queries"] for d in q["documents"]]


def wait_for(metric):
    for _ in range(200):
        if re.search(re.escape(metric) + " [1-9]", call("GET", "/metrics")[1]):
            return
        time.sleep(0.05)
    check(False, "waited for", metric, call("GET", "/metrics")[1])


before = scores_of_b()
check(before != wanted, "two bundles with the same scores")
good = open(bundle_b, "rb").read()
open(bundle_b, "wb").write(good[: len(good) // 2])
wait_for('tunemix_reloads_total{bundle="b",result="failed"}')
check(scores_of_b() == before, "a damaged file changed the scores")
seen, stop = [], []


def ask():
    while not stop:
        seen.append(scores_of_b())


threads = [threading.Thread(target=ask) for _ in range(3)]
for thread in threads:
    thread.start()
shutil.copy(bundle_a, bundle_b + ".new")
os.rename(bundle_b + ".new", bundle_b)
wait_for('tunemix_reloads_total{bundle="b",result="loaded"}')
stop.append(1)
for thread in threads:
    thread.join()
check(all(s in (before, wanted) for s in seen), "scores of neither bundle")
check(scores_of_b() == wanted, "the new file was not taken")
os.remove(bundle_b)
time.sleep(0.4)
check(scores_of_b() == wanted, "the bundle went with its file")

# A connection is kept while others come and go, as long as there are places.
stop.clear()


def come_and_go():
    while not stop:
        socket.create_connection(("127.0.0.1", port), timeout=60).close()


threads = [threading.Thread(target=come_and_go, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
kept = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
for _ in range(3000):
    kept.request("GET", "/health")
    response = kept.getresponse()
    response.read()
    check(not response.will_close, "a connection was closed although there were places")
stop.append(1)
for thread in threads:
    thread.join()
kept.close()

text = call("GET", "/metrics")[1]
for line in text.splitlines():
    check(line.startswith("# ") or len(line.rsplit(" ", 1)) == 2 and float(line.rsplit(" ", 1)[1]) >= 0, line)
for metric in ('tunemix_requests_total{bundle="a",code="413"} 4', 'tunemix_requests_total{bundle="",code="404"} 2',
               "tunemix_request_seconds_bucket", "process_resident_memory_bytes"):
    check(metric in text, metric, text)
print("all well")
