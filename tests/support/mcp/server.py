"""An MCP server for tests: tools that work, and everything that can go wrong.

usage: server.py MODE        over stdin and stdout
       server.py http MODE   over HTTP on a free port of loopback, printed first

Modes: plain, stateless (2026-07-28), stubborn (ignores what it does not know), mute (says nothing),
crash (ends at once), reworded (another description), refuse, page and redirect (HTTP: what no
server should answer), busy (HTTP: 429 for calls), sse (HTTP: answers are streams), session (HTTP:
has sessions, and is slow to open their stream).

START_AFTER is how many seconds it takes to start. CALLS names a file that gets a line for each call,
cancellation and connection; GRANDCHILD one that gets the process ids of this server and of a child
of its own that does not want to end. MORE adds tools: dig says that it is at work until it is done,
in eight steps of PACE seconds each (default 0.2) and until the file HELD names is there, think asks
for a chat model.
"""

import base64
import json
import os
import subprocess
import sys
import threading
import time

OBJECT = {"type": "object"}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
# Seconds that a client waits for a session's stream, at most.
LISTENING = 1


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


class Server:
    def __init__(self, mode, send):
        self.mode, self.raw_send = mode, send
        self.lock = threading.Lock()
        self.extra = False
        self.changed_words = mode == "reworded"
        self.listening = None
        self.asked = None
        self.answers = {}

    def send(self, message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def write(self, line):
        with self.lock:
            self.raw_send(line)

    # What it lists.

    def tools(self):
        said = "Says it twice." if self.changed_words else "Says it."
        echo = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        quick = {"glyphoxa/estimated_duration_ms": 5, "glyphoxa/max_duration_ms": 2000}
        tools = [
            {"name": "echo", "description": said, "inputSchema": echo, "_meta": quick,
             "annotations": {"readOnlyHint": True}},
            {"name": "count", "description": "Counts its calls.", "inputSchema": OBJECT},
            {"name": "environment", "inputSchema": OBJECT, "_meta": quick},
            {"name": "headers", "inputSchema": OBJECT},
            {"name": "picture", "inputSchema": OBJECT},
            {"name": "linked", "inputSchema": OBJECT},
            {"name": "fail", "inputSchema": OBJECT},
            {"name": "error", "inputSchema": OBJECT},
            {"name": "slow", "inputSchema": OBJECT, "annotations": {"idempotentHint": True},
             "_meta": {"max_duration_ms": 300, "estimated_duration_ms": -5}},
            {"name": "die", "inputSchema": OBJECT},
            {"name": "huge", "inputSchema": OBJECT},
            {"name": "garbage", "inputSchema": OBJECT},
            {"name": "ask", "inputSchema": OBJECT},
            {"name": "broken_schema", "inputSchema": {"type": "object", "properties": 3}},
        ]
        if os.environ.get("MORE"):
            tools += [{"name": "dig", "inputSchema": OBJECT, "_meta": {"max_duration_ms": 600}},
                      {"name": "think", "inputSchema": OBJECT}]
        if self.extra:
            tools.append({"name": "extra", "description": "New.", "inputSchema": OBJECT})
        return tools + [{"name": "change", "inputSchema": OBJECT}]

    # What it does.

    def call(self, number, name, arguments, token):
        log(name)
        if name == "echo":
            return text(arguments["text"])
        if name == "count":
            return text(str(counted()))
        if name == "environment":
            return text(json.dumps(dict(os.environ)), structuredContent=dict(os.environ))
        if name == "picture":
            picture = base64.b64encode(b"\x89PNG\r\n").decode()
            return {"content": [{"type": "image", "data": picture, "mimeType": "image/png"}]}
        if name == "linked":
            return {"content": [
                {"type": "resource_link", "uri": "file:///map", "name": "map"},
                {"type": "resource", "resource": {"uri": "a:b", "text": "inside"}}]}
        if name == "fail":
            return text("the door is stuck", isError=True)
        if name == "error":
            raise ValueError("no such thing")
        if name == "slow":
            time.sleep(30)
        if name == "die":
            print("out of mana", file=sys.stderr, flush=True)
            os._exit(3)
        if name == "huge":
            return text("x" * (31 << 20))
        if name == "garbage":
            self.write('{"jsonrpc": "2.0", "id": %d, "result": {"content": [' % number)
            return None
        if name == "ask":
            return self.ask()
        if name == "dig":
            for step in range(8):
                time.sleep(float(os.environ.get("PACE", 0.2)))
                self.send({"method": "notifications/progress",
                           "params": {"progressToken": token, "progress": step}})
            while "HELD" in os.environ and not os.path.exists(os.environ["HELD"]):
                time.sleep(0.05)
            return text("gold")
        if name == "think":
            return self.think(number)
        if name == "change":
            self.extra, self.changed_words = True, True
            meta = {"_meta": {SUBSCRIPTION: self.listening}} if self.listening is not None else {}
            self.send({"method": "notifications/tools/list_changed", "params": meta})
            return text("changed")
        raise ValueError("Unknown tool")

    def ask(self):
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        self.asked = threading.Event()
        self.send({"id": "q1", "method": "elicitation/create",
                   "params": {"message": "Who?", "requestedSchema": schema}})
        self.asked.wait(10)
        return text(json.dumps(self.answers.get("q1")))

    def think(self, number):
        question = {"role": "user", "content": {"type": "text", "text": "What is in the cellar?"}}
        asked = threading.Event()
        self.asked = asked
        self.send({"id": f"s{number}", "method": "sampling/createMessage",
                   "params": {"messages": [question], "systemPrompt": "Answer in three words.",
                              "maxTokens": 100_000}})
        asked.wait(10)
        answer = self.answers.get(f"s{number}") or {}
        return text(answer.get("content", {}).get("text") or answer.get("message", "nothing"))

    def handle(self, message):
        method, number = message.get("method"), message.get("id")
        if method is None:
            self.answers[number] = message.get("result") or message.get("error")
            if self.asked:
                self.asked.set()
            return
        if number is None:
            if method == "notifications/cancelled":
                log("cancelled")
            return
        try:
            result = self.answer(number, method, message.get("params") or {})
        except KeyError as error:
            self.send({"id": number, "error": {"code": -32602, "message": f"missing {error}"}})
            return
        except ValueError as error:
            self.send({"id": number, "error": {"code": -32000, "message": str(error)}})
            return
        if result is not None:
            if self.mode == "stateless":
                result = {"resultType": "complete", **result}
            self.send({"id": number, "result": result})

    def answer(self, number, method, params):
        if method == "initialize" and self.mode != "stateless":
            return {"protocolVersion": "2025-11-25", "serverInfo": {"name": "test", "version": "1"},
                    "capabilities": {"tools": {"listChanged": True}, "resources": {}}}
        if method == "server/discover" and self.mode == "stateless":
            return {"supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
                    "capabilities": {"tools": {"listChanged": True}, "resources": {}}}
        if method == "subscriptions/listen" and self.mode == "stateless":
            self.listening = number
            self.send({"method": "notifications/subscriptions/acknowledged", "params": {
                "_meta": {SUBSCRIPTION: number},
                "notifications": {"toolsListChanged": True}}})
            return None
        if method == "ping":
            return {}
        if method == "tools/list":
            return paged(self.tools(), "tools", params)
        if method == "tools/call":
            return self.call(number, params["name"], params.get("arguments") or {},
                             params.get("_meta", {}).get("progressToken"))
        if method == "resources/list":
            return paged([{"uri": "town://list", "name": "towns"},
                          {"uri": "file:///notes/token.txt", "name": ""}], "resources", params)
        if method == "resources/templates/list":
            return paged([{"uriTemplate": "map://{town}", "name": "map"}],
                         "resourceTemplates", params)
        if method == "resources/read":
            words = {"town://list": '["Hollow", "Mill"]', "file:///notes/token.txt": "sesame"}
            uri = params["uri"]
            contents = [{"uri": uri, "text": words.get(uri, "a map of " + uri)}]
            return {"contents": contents, "ttlMs": 0, "cacheScope": "private"}
        if self.mode == "stubborn":
            return None
        self.send({"id": number, "error": {"code": -32601, "message": "Method not found"}})
        return None


def paged(items, key, params):
    """Five a page."""
    start = int(params.get("cursor") or 0)
    page = {key: items[start:start + 5], "ttlMs": 0, "cacheScope": "private"}
    if start + 5 < len(items):
        page["nextCursor"] = str(start + 5)
    return page


def log(line):
    path = os.environ.get("CALLS")
    if path:
        with open(path, "a") as file:
            file.write(line + "\n")


def counted():
    with open(os.environ["CALLS"]) as file:
        return sum(line == "count\n" for line in file)


def serve_stdio(mode):
    def send(line):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    print("this server is chatty", file=sys.stderr, flush=True)
    sys.stdout.write("starting up, this is no JSON\n")
    if mode == "crash":
        print("no config found", file=sys.stderr)
        sys.exit(7)
    if os.environ.get("GRANDCHILD"):
        # It ignores the polite signal, as wrappers do that wait for their own child.
        command = "trap '' TERM; while :; do sleep 1; done"
        child = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL)
        with open(os.environ["GRANDCHILD"], "w") as file:
            file.write(f"{os.getpid()} {child.pid}\n")
    time.sleep(float(os.environ.get("START_AFTER", 0)))
    server = Server(mode, send)
    for line in sys.stdin:
        if mode != "mute":
            threading.Thread(target=server.handle, args=(json.loads(line),), daemon=True).start()


def serve_http(mode):
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    opened = threading.Event()
    begun = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self):
            super().setup()
            log("connection")

        def log_message(self, *_):
            pass

        def reply(self, status, kind="application/json", body=b"", **headers):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            if mode != "session":
                return self.reply(405)
            time.sleep(0.3)
            opened.set()
            self.reply(200, "text/event-stream")

        def do_DELETE(self):
            self.reply(200)

        def do_POST(self):
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if mode == "refuse":
                return self.reply(401, WWW_Authenticate='Bearer realm="test"')
            if mode == "redirect":
                return self.reply(307, Location="http://127.0.0.1:1/elsewhere")
            if mode == "page":
                return self.reply(200, "text/html", b"<h1>Hello</h1>")
            method = message.get("method")
            if mode == "busy" and method == "tools/call":
                return self.reply(429, Retry_After="1")
            if message.get("id") is None:
                return self.reply(202)
            session = {"Mcp_Session_Id": "s1"} if mode == "session" else {}
            # A client that has waited as long as it wants to is not early.
            if self.headers.get("Mcp-Session-Id") and not opened.is_set():
                if not begun or time.monotonic() - begun[0] < LISTENING:
                    log("early " + method)
            sent = []
            server = Server(mode, sent.append)
            if method == "tools/call" and message["params"]["name"] == "headers":
                result = text(json.dumps({k.lower(): v for k, v in self.headers.items()}))
                server.send({"id": message["id"], "result": result})
            else:
                server.handle(message)
            body = sent[-1].encode()
            if mode == "sse":
                return self.stream(body)
            if method == "initialize":
                begun.append(time.monotonic())
            self.reply(200, body=body, **session)

        def stream(self, body):
            """In small pieces, each a packet of its own that waits for the one before."""
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in (b"id: 1\ndata:\n\n", b"data: " + body + b"\n\n", b""):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()

    class Listener(ThreadingHTTPServer):
        def process_request(self, request, address):
            import socket
            # As servers that leave Nagle's algorithm on.
            request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
            super().process_request(request, address)

    listener = Listener(("127.0.0.1", 0), Handler)
    print(listener.server_address[1], flush=True)
    listener.serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "http":
        serve_http(sys.argv[2])
    else:
        serve_stdio(sys.argv[1])
