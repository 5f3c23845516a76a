"""Anthropic's own client against the service of the tests: text, tools, thoughts sent back, errors.

Arguments: base address, key. Prints one JSON object of what it has understood.
"""

import json
import sys

import anthropic

client = anthropic.Anthropic(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)
tools = [
    {"name": name, "description": "d", "input_schema": {"type": "object", "properties": {}}}
    for name in ("roll", "look")
]
common = {
    "model": "test-model",
    "max_tokens": 2000,
    "system": [{"type": "text", "text": "You are Bartok.", "cache_control": {"type": "ephemeral"}}],
    "tools": tools,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
}
messages = [{"role": "user", "content": "roll"}]
heard = {}

with client.messages.stream(messages=messages, **common) as stream:
    heard["text"] = "".join(stream.text_stream)
    usage = stream.get_final_message().usage
    heard["usage"] = [
        usage.input_tokens,
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
        usage.output_tokens,
    ]

with client.messages.stream(messages=messages, **common) as stream:
    asked = stream.get_final_message()
heard["stop"] = asked.stop_reason
heard["calls"] = [[b.id, b.name, b.input] for b in asked.content if b.type == "tool_use"]
heard["thought"] = "".join(b.thinking for b in asked.content if b.type == "thinking")

results = [
    {"type": "tool_result", "tool_use_id": block.id, "content": "7"}
    for block in asked.content
    if block.type == "tool_use"
]
messages += [{"role": "assistant", "content": asked.content}, {"role": "user", "content": results}]
with client.messages.stream(messages=messages, **common) as stream:
    heard["answer"] = "".join(stream.text_stream)

heard["errors"] = []
for _ in range(2):
    try:
        with client.messages.stream(messages=messages, **common) as stream:
            stream.get_final_message()
    except anthropic.APIStatusError as error:
        body = error.body if isinstance(error.body, dict) else {}
        heard["errors"].append([error.status_code, body.get("error", {}).get("type")])

print(json.dumps(heard, ensure_ascii=False))
