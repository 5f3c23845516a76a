"""An MCP server for tests of values that one server gives and another names.

usage: customers.py gives FILE   a resource `customer_id` with what FILE says; tells of changes
       customers.py takes        a resource by template, customer://{customer_id}; the tool
                                 `read_addresses` says which were read
"""

import json
import sys
import threading
import time


class Server:
    def __init__(self, role, file):
        self.role, self.file, self.read = role, file, []
        self.lock = threading.Lock()

    def send(self, message):
        with self.lock:
            print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

    def content(self):
        with open(self.file) as file:
            return file.read().strip()

    def watch(self):
        before = self.content()
        while True:
            time.sleep(0.05)
            now = self.content()
            if now and now != before:
                before = now
                self.send({"method": "notifications/resources/list_changed"})

    def answer(self, method, params):
        if method == "initialize":
            return {"protocolVersion": "2025-11-25", "serverInfo": {"name": "test", "version": "1"},
                    "capabilities": {"tools": {}, "resources": {"listChanged": True}}}
        if method == "tools/list":
            tool = {"name": "read_addresses", "inputSchema": {"type": "object"},
                    "annotations": {"readOnlyHint": True}}
            return {"tools": [tool] if self.role == "takes" else []}
        if method == "tools/call":
            return {"content": [{"type": "text", "text": " ".join(self.read)}]}
        if method == "resources/list":
            given = {"uri": "session://customer", "name": "customer_id"}
            return {"resources": [given] if self.role == "gives" else []}
        if method == "resources/templates/list":
            taken = {"uriTemplate": "customer://{customer_id}/{other}", "name": "customer"}
            return {"resourceTemplates": [taken] if self.role == "takes" else []}
        if method == "resources/read":
            uri = params["uri"]
            self.read.append(uri)
            words = self.content() if self.role == "gives" else "a customer"
            return {"contents": [{"uri": uri, "text": words}]}
        return {} if method == "ping" else None

    def run(self):
        if self.role == "gives":
            threading.Thread(target=self.watch, daemon=True).start()
        for line in sys.stdin:
            message = json.loads(line)
            if message.get("id") is not None and "method" in message:
                result = self.answer(message["method"], message.get("params") or {})
                unknown = {"error": {"code": -32601, "message": "unknown method"}}
                self.send({"id": message["id"], **({"result": result} if result is not None else unknown)})


if __name__ == "__main__":
    Server(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None).run()
