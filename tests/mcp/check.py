"""Lists and calls everything that slop serves, with the protocol's own SDK: check.py SLOP PROJECT

`slop mcp` is started without a daemon, and if one runs, both that and the daemon's own port are used.
"""

import asyncio
import json
import os
import sys

import httpx2
import jsonschema
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp_types import ResourceListChangedNotification, ResourceUpdatedNotification

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


async def check_stdio(mode):
    await check(StdioServerParameters(command=slop, args=["mcp"], cwd=project), mode, "stdio")


async def check_http(mode, listener):
    headers = {"Authorization": f"Bearer {listener['token']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        address = f"http://{listener['address']}/mcp"
        await check(streamable_http_client(address, http_client=http), mode, "HTTP")


async def check(server, mode, transport):
    updated = asyncio.Queue()

    async def receive(message):
        if isinstance(message, ResourceUpdatedNotification):
            updated.put_nowait(message.params.uri)
        elif isinstance(message, ResourceListChangedNotification):
            updated.put_nowait("list")

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
        await parts(client)
        await subscriptions(client, updated, transport)
        print(f"the SDK listed and called everything ({transport}, {mode}, protocol {client.protocol_version})")


async def parts(client):
    """Reads a document in parts, which together are the document."""
    result = await client.call_tool("slop_aggregate", {"tier": 1, "links": True})
    text, *links = result.content
    assert len(text.text) < 1000 and links, result
    read = ""
    for link in links:
        assert link.type == "resource_link", link
        read += (await client.read_resource(str(link.uri))).contents[0].text
    whole = (await client.call_tool("slop_aggregate", {"tier": 1})).content[0].text
    assert whole.startswith(read.rstrip("\n")), (read[:200], whole[:200])


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
    addresses = [
        "slop://view/{mode}/{+path}",
        "slop://answer/{id}/{part}",
        "slop://hydrated",
        "slop://fragments/{tier}",
        "slop://simulate{?task,focus*,budget,tier}",
    ]
    assert [template.uri_template for template in templates] == addresses, templates
    outline = await client.read_resource("slop://view/outline/src/engine.py")
    assert outline.contents[0].text.startswith("[Class] Engine"), outline
    for address in ["slop://view/full/nowhere", "slop://view/full/%2e%2e/secret", "slop://view/full/src"]:
        try:
            await client.read_resource(address)
        except MCPError as error:
            assert error.code in (-32002, -32602), error
        else:
            raise AssertionError(f"{address} was read")


async def subscriptions(client, updated, transport):
    address, has_daemon = "slop://view/outline/src/engine.py", os.path.exists(f"{project}/.slop_cache/daemon.sock")

    def touch():
        with open(f"{project}/src/engine.py", "a", encoding="utf-8") as file:
            file.write("\n")

    def add():
        with open(f"{project}/added.md", "w", encoding="utf-8") as file:
            file.write("# Added\n")

    async def next_of(receive, wanted):
        # A daemon that has just started reports everything once.
        while await asyncio.wait_for(receive(), 10) != wanted:
            pass

    is_old = client.protocol_version < "2026-07-28"
    # Before that version, notifications need a session, which there is not over HTTP.
    can_notify = has_daemon and not (is_old and transport == "HTTP")
    try:
        if is_old:
            await client.subscribe_resource(address)
            touch()
            await next_of(updated.get, address)
            await client.unsubscribe_resource(address)
            add()
            await next_of(updated.get, "list")
        else:
            wanted = [address, "file:///etc/passwd"]
            async with client.listen(resource_subscriptions=wanted, resources_list_changed=True) as events:
                assert events.honored.resource_subscriptions == [address], events.honored
                stream = aiter(events)

                async def receive():
                    event = await anext(stream)
                    return getattr(event, "uri", "list")

                touch()
                await next_of(receive, address)
                add()
                await next_of(receive, "list")
        assert can_notify
    except (MCPError, SubscriptionLost):
        assert not can_notify
    finally:
        if os.path.exists(f"{project}/added.md"):
            os.remove(f"{project}/added.md")


try:
    with open(f"{project}/.slop_cache/daemon.listen", encoding="utf-8") as file:
        listener = json.load(file)
except FileNotFoundError:
    listener = None
for mode in ("legacy", "auto"):
    asyncio.run(check_stdio(mode))
    if listener is not None:
        asyncio.run(check_http(mode, listener))
