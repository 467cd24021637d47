# A client of `tunemix serve` that shows tokens over TLS: serve_tls.py PORT CERTIFICATE DATA SCORES. Prints what went wrong and
# exits with 1, or says "all well".
import http.client
import json
import socket
import ssl
import sys

port, certificate, data, scores = int(sys.argv[1]), *sys.argv[2:5]
context = ssl.create_default_context(cafile=certificate)


def check(good, *what):
    if not good:
        print(*what)
        sys.exit(1)


def call(method, path, body=None, **fields):
    connection = http.client.HTTPSConnection("localhost", port, timeout=60, context=context)
    connection.request(method, path, body, fields)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response, text


body = open(data).read()
wanted = [float(line) for line in open(scores)]
for token in ("first-token", "second-token"):
    fields = {"Content-Type": "text/plain", "Authorization": "Bearer " + token}
    response, text = call("POST", "/rank", body, **fields)
    check(response.status == 200, token, response.status, text)
    check([d["score"] for q in json.loads(text)["queries"] for d in q["documents"]] == wanted, "other scores")
    response, text = call("GET", "/metrics", Authorization="bearer " + token)
    check(response.status == 200 and "tunemix_connections 1" in text, token, response.status, text)
    response, text = call("GET", "/health", Authorization="Bearer " + token)
    check(json.loads(text)["bundles"][0]["name"] == "a", text)
for authorization in ("", "Bearer", "Bearer ", "Bearer first", "Bearer first-token-", "Basic first-token", "first-token", "Bearer \t"):
    for method, path in (("POST", "/rank"), ("GET", "/metrics"), ("GET", "/nothing"), ("PUT", "/rank")):
        response, text = call(method, path, body if method == "POST" else None, Authorization=authorization)
        check(response.status == 401 and response.getheader("WWW-Authenticate") == "Bearer" and "error" in json.loads(text),
              authorization, method, path, response.status, text)
response, text = call("GET", "/health")
check(response.status == 200 and json.loads(text) == {"status": "ok"}, text)

# A long body, in pieces, over one connection that goes on; old TLS; and a client that does not speak TLS at all.
connection = http.client.HTTPSConnection("localhost", port, timeout=60, context=context)
for _ in range(3):
    lines = [json.dumps({"features": {"1": i}}) for i in range(9000)]
    connection.request("POST", "/rank", '{"documents": [' + ",\n".join(lines) + "]}",
                       {"Content-Type": "application/json", "Authorization": "Bearer first-token"})
    response = connection.getresponse()
    check(response.status == 200 and len(json.loads(response.read())["queries"][0]["documents"]) == 9000, response.status)
connection.close()
old = ssl.create_default_context(cafile=certificate)
old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
old.set_ciphers("ALL:@SECLEVEL=0")
try:
    with socket.create_connection(("localhost", port)) as raw:
        old.wrap_socket(raw, server_hostname="localhost")
    check(False, "TLS 1.1 is spoken")
except ssl.SSLError:
    pass
except ConnectionError:
    pass
with socket.create_connection(("localhost", port)) as raw:
    raw.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    reply = raw.recv(1000)
    check(b"HTTP/1.1 200" not in reply, "answers in the clear")
check(call("GET", "/health")[0].status == 200, "after all")
print("all well")
