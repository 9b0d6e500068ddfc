"""Lists and calls everything that `slop mcp` serves, with the protocol's own SDK: check.py SLOP PROJECT"""

import asyncio
import os
import sys

import jsonschema
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.subscriptions import SubscriptionLost
from mcp_types import ResourceUpdatedNotification

slop, project = sys.argv[1:]

CALLS = [
    ("slop_aggregate", {"tier": 1}, "tokens of 20000"),
    ("slop_aggregate", {"tier": 3, "focus": ["engine.py"], "budget": 3000}, "class Engine"),
    ("slop_view", {"files": ["src/engine.py"]}, "return"),
    ("slop_view", {"files": [f"{project}/src"], "mode": "skeleton"}, "def run"),
    ("slop_view", {"files": ["src/engine.py"], "symbols": ["Engine.run"]}, "def run"),
    ("slop_view", {"files": ["long.txt"], "lines": [{"start": 19999, "end": 20000}]}, "20000"),
    ("slop_view", {"files": ["long.txt"]}, "[cut: lines "),
    ("slop_outline", {"files": ["src"]}, "[class] class Engine"),
    ("slop_symbol", {"name": "run", "definition": True}, "return"),
    ("slop_search", {"query": "run the engine"}, "src/engine.py"),
    ("slop_refs", {"mode": "callers", "target": "Engine.run"}, "caller"),
    ("slop_status", {}, "[cut: 100 of 253 files are listed"),
]

REFUSALS = [
    ("slop_view", {"files": ["nowhere.py"]}, "not_found"),
    ("slop_view", {"files": ["../secret"]}, "outside_project"),
    ("slop_view", {"file": "src/engine.py"}, "bad_arguments"),
    ("slop_symbol", {"name": "nobody"}, "not_found"),
    ("slop_aggregate", {"budget": 1, "focus": ["engine.py"], "tier": 3}, "over_budget"),
]


async def check(mode):
    server = StdioServerParameters(command=slop, args=["mcp"], cwd=project)
    updated = asyncio.Queue()

    async def receive(message):
        if isinstance(message, ResourceUpdatedNotification):
            updated.put_nowait(message.params.uri)

    async with Client(server, mode=mode, read_timeout_seconds=60, message_handler=receive) as client:
        assert client.server_info.name == "slop", client.server_info
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert len(tools) == 7, tools
        for tool in tools.values():
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        for name, arguments, words in CALLS:
            jsonschema.validate(arguments, tools[name].input_schema)
            told = []

            async def tell(done, total, message):
                told.append((done, total))

            result = await client.call_tool(name, arguments, progress_callback=tell)
            text = result.content[0].text
            assert not result.is_error and words in text, (name, arguments, text)
            assert text.rstrip().endswith("when you asked]"), text
            assert told == sorted(told), told
            if tools[name].output_schema is not None:
                jsonschema.validate(result.structured_content, tools[name].output_schema)
        for name, arguments, code in REFUSALS:
            result = await client.call_tool(name, arguments)
            assert result.is_error and f"code: {code}\n" in result.content[0].text, (arguments, result)
        await resources(client)
        await subscriptions(client, updated)
        print(f"the SDK listed and called everything ({mode}, protocol {client.protocol_version})")


async def resources(client):
    found, cursor = [], None
    while True:
        page = await client.list_resources(cursor=cursor)
        found += page.resources
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(found) == 253, len(found)
    for resource in found:
        contents = (await client.read_resource(str(resource.uri))).contents[0]
        path = f"{project}/{resource.title}"
        with open(path, encoding="utf-8") as file:
            assert contents.text == file.read(), path
    templates = (await client.list_resource_templates()).resource_templates
    assert templates[0].uri_template == "slop://view/{mode}/{+path}", templates
    outline = await client.read_resource("slop://view/outline/src/engine.py")
    assert outline.contents[0].text.startswith("[Class] Engine"), outline
    for address in ["slop://view/full/nowhere", "slop://view/full/%2e%2e/secret", "slop://view/full/src"]:
        try:
            await client.read_resource(address)
        except MCPError as error:
            assert error.code in (-32002, -32602), error
        else:
            raise AssertionError(f"{address} was read")


async def subscriptions(client, updated):
    address, has_daemon = "slop://view/outline/src/engine.py", os.path.exists(f"{project}/.slop_cache/daemon.sock")

    def touch():
        with open(f"{project}/src/engine.py", "a", encoding="utf-8") as file:
            file.write("\n")

    try:
        if client.protocol_version < "2026-07-28":
            await client.subscribe_resource(address)
            touch()
            assert await asyncio.wait_for(updated.get(), 10) == address
            await client.unsubscribe_resource(address)
        else:
            async with client.listen(resource_subscriptions=[address, "file:///etc/passwd"]) as events:
                assert events.honored.resource_subscriptions == [address], events.honored
                touch()
                event = await asyncio.wait_for(anext(aiter(events)), 10)
                assert event.uri == address, event
        assert has_daemon
    except (MCPError, SubscriptionLost):
        assert not has_daemon


for mode in ("legacy", "auto"):
    asyncio.run(check(mode))
