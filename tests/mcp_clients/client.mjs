// The protocol's own TypeScript clients against Glyphoxa's server: "sdk" is the first line of them, which
// speaks 2025-11-25, "client" the second, which is pinned to 2026-07-28.
//
// Arguments: folder of the packages, "sdk" or "client", address, token, name of a workflow. Prints one JSON
// object of what it has understood.

import { createRequire } from "node:module";

const [packages, line, url, token, workflow] = process.argv.slice(2);
const require = createRequire(`${packages}/`);
const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

function load() {
    if (line === "client") {
        const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
        return { Client, StreamableHTTPClientTransport, options: { versionNegotiation: { mode: { pin: "2026-07-28" } } } };
    }
    const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return { Client, StreamableHTTPClientTransport, options: {} };
}

const { Client, StreamableHTTPClientTransport, options } = load();

async function connected(secret) {
    const client = new Client({ name: "typescript", version: "1" }, options);
    const requestInit = { headers: { Authorization: `Bearer ${secret}` } };
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
    await client.connect(transport);
    return { client, transport };
}

function result(answer) {
    const texts = answer.content.filter((block) => block.type === "text").map((block) => block.text);
    return {
        error: answer.isError ?? false,
        structured: answer.structuredContent ?? null,
        text: texts.join("\n"),
    };
}

// Calls a tool; the first line of clients wants a schema of the result before the options.
function call(client, name, values, more = {}) {
    const request = { name, arguments: values };
    return line === "client" ? client.callTool(request, more) : client.callTool(request, undefined, more);
}

// The only argument that a tool needs, whatever its name is.
function firstArgument(tools, name, value) {
    const schema = tools.find((tool) => tool.name === name).inputSchema;
    return { [schema.required[0]]: value };
}

async function refusal(secret) {
    try {
        const { client } = await connected(secret);
        await client.listTools();
        return "none";
    } catch (error) {
        return String(error);
    }
}

const { client, transport } = await connected(token);
const { tools } = await client.listTools();
// The client checks structured content against the output schema itself.
const roll = result(await call(client, "dice.roll", firstArgument(tools, "dice.roll", "2d6+3")));
const spoken = await call(client, "voice.speak", { text: "The bridge is out." });
const sounds = spoken.content.filter((block) => block.type === "audio");
const asked = result(await call(client, "npc.ask", { npc: "Bartok", text: "Are you open?" }));
const unknownNpc = result(await call(client, "npc.ask", { npc: "Nobody", text: "Hello?" }));
const health = result(await call(client, "system.health", {}));
let steps = 0;
const onprogress = () => { steps += 1; };
const run = await call(client, "workflow.run", firstArgument(tools, "workflow.run", workflow), { onprogress });
const { resources } = await client.listResources();
const read = resources.length > 0 ? (await client.readResource({ uri: resources[0].uri })).contents : [];
const { resourceTemplates } = await client.listResourceTemplates();
const { prompts } = await client.listPrompts();
const interview = prompts.find((prompt) => prompt.name === "interview-npc");
const needed = (interview.arguments ?? []).filter((it) => it.required).map((it) => [it.name, "Bartok"]);
const prompt = await client.getPrompt({ name: "interview-npc", arguments: Object.fromEntries(needed) });
const seen = {
    protocol: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion,
    tools: tools.map((tool) => tool.name),
    undescribed: tools.filter((tool) => !tool.description).map((tool) => tool.name),
    unannotated: tools
        .filter((tool) => hints.some((hint) => typeof tool.annotations?.[hint] !== "boolean"))
        .map((tool) => tool.name),
    without_output_schema: tools.filter((tool) => !tool.outputSchema).map((tool) => tool.name),
    roll,
    spoken: {
        ...result(spoken),
        sounds: sounds.map((sound) => [sound.mimeType, Buffer.from(sound.data, "base64").length]),
    },
    asked,
    unknown_npc: unknownNpc,
    health,
    run: { ...result(run), progress: steps },
    resources: resources.map((resource) => resource.uri),
    read: read.map((content) => (content.text ?? "").length),
    templates: resourceTemplates.map((template) => template.uriTemplate),
    prompts: prompts.map((prompt) => prompt.name),
    prompt: prompt.messages.length,
};
await client.close();
seen.refused = await refusal(`glx_${"A".repeat(43)}`);
console.log(JSON.stringify(seen));
process.exit(0);
