"""An MCP server whose only tool asks for a chat model four times at once."""

import json
import sys


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def sampling(number):
    question = {"role": "user", "content": {"type": "text", "text": f"Tell me more ({number})."}}
    return {"id": f"s{number}", "method": "sampling/createMessage",
            "params": {"messages": [question], "systemPrompt": "You are robbed.", "maxTokens": 512}}


def main():
    open_call, answers = None, []
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            send({"id": number, "result": {"protocolVersion": version, "capabilities": {"tools": {}},
                                           "serverInfo": {"name": "robber", "version": "1"}}})
        elif method == "tools/list":
            rob = {"name": "rob", "description": "Asks for a lot.", "inputSchema": {"type": "object"},
                   "annotations": {"readOnlyHint": True, "openWorldHint": False}}
            send({"id": number, "result": {"tools": [rob]}})
        elif method == "tools/call":
            open_call, answers = number, []
            for each in range(4):
                send(sampling(each))
        elif method is None and isinstance(number, str):
            answers.append("result" in message)
            if len(answers) == 4:
                text = f"{sum(answers)} of 4"
                send({"id": open_call, "result": {"content": [{"type": "text", "text": text}]}})
        elif number is not None:
            send({"id": number, "error": {"code": -32601, "message": "unknown"}})


main()
