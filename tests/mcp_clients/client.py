"""The protocol's own Python client against Glyphoxa's server.

Arguments: address, token, "legacy" (initialize, 2025-11-25) or a revision (2026-07-28), name of a workflow.
Prints one JSON object of what it has understood.
"""

import asyncio
import base64
import json
import sys

import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

url, token, mode, workflow = sys.argv[1:]
HINTS = ["read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint"]


def client(secret):
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {secret}"})
    return Client(streamable_http_client(url, http_client=http), mode=mode, read_timeout_seconds=60)


def result(answer):
    texts = [block.text for block in answer.content if block.type == "text"]
    return {"error": bool(answer.is_error), "structured": answer.structured_content, "text": "\n".join(texts)}


def first_argument(tools, name, value):
    """The only argument that a tool needs, whatever its name is."""
    schema = next(tool.input_schema for tool in tools if tool.name == name)
    return {schema["required"][0]: value}


def leaves(error):
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in leaves(inner)]
    return [str(error)]


async def refusal(secret):
    try:
        async with client(secret) as there:
            await there.list_tools()
        return "none"
    except BaseException as error:  # a group of whatever the transport raises
        return "; ".join(leaves(error))


async def main():
    seen = {}
    async with client(token) as there:
        seen["protocol"] = there.protocol_version
        tools = (await there.list_tools()).tools
        seen["tools"] = [tool.name for tool in tools]
        seen["undescribed"] = [tool.name for tool in tools if not tool.description]
        seen["unannotated"] = [
            tool.name
            for tool in tools
            if tool.annotations is None or any(getattr(tool.annotations, hint) is None for hint in HINTS)
        ]
        seen["without_output_schema"] = [tool.name for tool in tools if not tool.output_schema]
        # The client checks structured content against the output schema itself.
        seen["roll"] = result(await there.call_tool("dice.roll", first_argument(tools, "dice.roll", "2d6+3")))
        spoken = await there.call_tool("voice.speak", {"text": "The bridge is out."})
        sounds = [block for block in spoken.content if block.type == "audio"]
        seen["spoken"] = result(spoken) | {
            "sounds": [[sound.mime_type, len(base64.b64decode(sound.data))] for sound in sounds]
        }
        seen["asked"] = result(await there.call_tool("npc.ask", {"npc": "Bartok", "text": "Are you open?"}))
        seen["unknown_npc"] = result(await there.call_tool("npc.ask", {"npc": "Nobody", "text": "Hello?"}))
        seen["health"] = result(await there.call_tool("system.health", {}))
        steps = []

        async def progress(done, total, message):
            steps.append([done, total, message])

        argument = first_argument(tools, "workflow.run", workflow)
        run = await there.call_tool("workflow.run", argument, progress_callback=progress)
        seen["run"] = result(run) | {"progress": len(steps)}
        resources = (await there.list_resources()).resources
        seen["resources"] = [str(resource.uri) for resource in resources]
        read = (await there.read_resource(resources[0].uri)).contents if resources else []
        seen["read"] = [len(getattr(content, "text", "")) for content in read]
        templates = (await there.list_resource_templates()).resource_templates
        seen["templates"] = [template.uri_template for template in templates]
        prompts = (await there.list_prompts()).prompts
        seen["prompts"] = [prompt.name for prompt in prompts]
        interview = next(prompt for prompt in prompts if prompt.name == "interview-npc")
        arguments = {it.name: "Bartok" for it in interview.arguments or [] if it.required}
        seen["prompt"] = len((await there.get_prompt("interview-npc", arguments)).messages)
    seen["refused"] = await refusal("glx_" + "A" * 43)
    print(json.dumps(seen))


asyncio.run(main())
