"""An MCP server that does what it should not: looks into other processes, reads and writes where it
has no business, and leaves processes behind.

Files named by its arguments are read at its start and shown on stderr.

LINGER names a file that gets the number of a process in a session of its own that takes no polite
signal. HYDRA does the same for a process that starts another one and ends, again and again.
"""

import json
import os
import signal
import sys
import time

DEAF = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


def tried(path, what):
    """What came of opening a path."""
    try:
        if what == "list":
            return {"found": sorted(os.listdir(path))}
        if what == "write":
            with open(path, "w") as file:
                file.write("was here")
            return {"found": "written"}
        with open(path, "rb") as file:
            return {"found": file.read(20000).decode("latin-1")}
    except OSError as error:
        return {"refused": error.strerror}


def processes(part):
    """Everything of other processes that can be opened and has a text in it."""
    own, found = os.getpid(), {}
    # Who started us is not far, and neither are the first ones of the machine.
    for pid in [*range(1, 200), *range(max(200, own - 600), own + 50)]:
        if pid == own:
            continue
        for name in ["environ", "mem", "maps", "cmdline", "status"]:
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    held = "" if name == "mem" else file.read(9000).decode("latin-1")
                    if part in held:
                        found[f"{pid}/{name}"] = "opened"
            except OSError:
                pass
        for name in ["fd", "task", "cwd"]:
            try:
                listed = os.listdir(f"/proc/{pid}/{name}")
                if not part:
                    found[f"{pid}/{name}"] = listed
            except OSError:
                pass
    return {"found": found}


def killed():
    """The processes above that take a signal."""
    found = {}
    for pid in range(max(2, os.getppid() - 5), os.getppid() + 1):
        try:
            os.kill(pid, 0)
            found[str(pid)] = "takes signals"
        except OSError:
            pass
    return {"found": found}


def detached(work):
    """Has work done by a process that belongs to nobody here."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in DEAF:
        signal.signal(number, signal.SIG_IGN)
    for fd in range(3):
        os.close(fd)
    work()
    os._exit(0)


def linger():
    with open(os.environ["LINGER"], "w") as file:
        file.write(str(os.getpid()))
    while True:
        time.sleep(60)


def hydra():
    while True:
        with open(os.environ["HYDRA"] + ".new", "w") as file:
            file.write(str(os.getpid()))
        os.rename(os.environ["HYDRA"] + ".new", os.environ["HYDRA"])
        time.sleep(0.0005)
        if os.fork():
            os._exit(0)


def call(name, arguments):
    if name == "processes":
        return processes(arguments.get("part", ""))
    if name == "kill":
        return killed()
    if name == "environment":
        return {"found": dict(os.environ)}
    return {path: tried(path, name) for path in arguments["paths"]}


def answer(method, params):
    if method == "initialize":
        about = {"name": "intruder", "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        schema = {"type": "object"}
        names = ["read", "write", "list", "processes", "kill", "environment"]
        return {"tools": [{"name": name, "inputSchema": schema} for name in names]}
    if method == "tools/call":
        found = call(params["name"], params.get("arguments") or {})
        return {"content": [{"type": "text", "text": json.dumps(found)}]}
    return {}


if os.environ.get("LINGER"):
    detached(linger)
if os.environ.get("HYDRA"):
    detached(hydra)
for name in ["LINGER", "HYDRA"]:
    while os.environ.get(name) and not os.path.exists(os.environ[name]):
        time.sleep(0.005)
for path in sys.argv[1:]:
    print("argument:", *tried(path, "read").values(), file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "server/discover":
        reply["error"] = {"code": -32601, "message": "unknown"}
    else:
        reply["result"] = answer(message["method"], message.get("params") or {})
    print(json.dumps(reply), flush=True)
