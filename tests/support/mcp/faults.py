"""A server on fastmcp for tests: tools that are slow, huge, broken, and a list that changes."""

import asyncio
import os

from fastmcp import Context, FastMCP
from fastmcp.tools import ToolResult
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp_types import SubscriptionsListenRequestParams, ToolListChangedNotification

server = FastMCP("faults")

# fastmcp 4.1.2 does not tell clients of revision 2026-07-28 that its list has changed; the SDK
# below it does when it is asked to.
changes = InMemorySubscriptionBus()
server._mcp_server.add_request_handler(
    "subscriptions/listen", SubscriptionsListenRequestParams, ListenHandler(changes))


@server.tool
def echo(message: str) -> str:
    """Says it back."""
    return f"fastmcp says {message}"


@server.tool
async def slow(seconds: float = 30) -> str:
    """Takes its time."""
    await asyncio.sleep(seconds)
    return "at last"


@server.tool
def huge(megabytes: int = 31) -> ToolResult:
    """Says a lot."""
    return ToolResult(content="x" * (megabytes << 20))


@server.tool
def crash() -> str:
    """Ends the server."""
    os._exit(3)


@server.tool
def garbage() -> str:
    """Says something that is no JSON."""
    os.write(1, b'{"jsonrpc": "2.0", "id": 1, "result": {"content": [\n')
    return "after the noise"


@server.tool
def refuse() -> str:
    """Fails."""
    raise ValueError("the door is stuck")


@server.tool
async def change(context: Context) -> str:
    """Takes echo away and offers extra instead."""
    server.local_provider.remove_tool("echo")
    server.add_tool(extra)
    await changes.publish(ToolsListChanged())
    await context.send_notification(ToolListChangedNotification())
    return "changed"


def extra() -> str:
    """New."""
    return "extra is here"


if __name__ == "__main__":
    server.run(show_banner=False, log_level="ERROR")
