#!/usr/bin/env python3
"""An MCP server with one tool, in nothing but Python's own library."""
import json
import sys

TOOL = {
    "name": "get_weather",
    "description": "The weather at a place of the campaign, today.",
    "inputSchema": {
        "type": "object",
        "properties": {"place": {"type": "string", "description": "Name of the place"}},
        "required": ["place"],
    },
    # Hints for Glyphoxa: read-only, quick, and each answer valid for a minute.
    "annotations": {"readOnlyHint": True},
    "_meta": {"glyphoxa/estimated_duration_ms": 20, "glyphoxa/cacheable_seconds": 60},
}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "weather", "version": "1.0"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        place = params["arguments"]["place"]
        sky = ["rain", "fog", "a clear sky", "snow"][len(place) % 4]
        return {"content": [{"type": "text", "text": f"{place} has {sky} today."}]}
    if method == "ping":
        return {}
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue  # a notification wants no answer
    result = answer(request["method"], request.get("params", {}))
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": "method not found"}
    else:
        reply["result"] = result
    print(json.dumps(reply), flush=True)
