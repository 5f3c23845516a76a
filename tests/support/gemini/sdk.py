"""The vendor's own client against the counterpart of tests: sdk.py ADDRESS KEY

Prints what it was told on the main road and where it was refused, as one line of JSON. Every message is held
against the client's own types, which refuse what they do not have; the client itself drops it.

Without arguments it holds what a client has sent against those types: one message a line of the input.
"""

import asyncio
import json
import sys

from google import genai
from google.genai import errors, live, types
from pydantic import ValidationError

MODEL = "gemini-3.8-live"
SCHEMA = {"type": "object", "properties": {"expression": {"type": "string"}}}
ROLL = {"name": "roll", "description": "Rolls dice.", "behavior": "BLOCKING", "parameters_json_schema": SCHEMA}
NOTE = {"name": "note", "description": "Keeps a note.", "behavior": "NON_BLOCKING"}
CONFIG = {
    "response_modalities": ["AUDIO"],
    "system_instruction": "A gruff innkeeper.",
    "max_output_tokens": 8192,
    "speech_config": {"voice_config": {"prebuilt_voice_config": {"voice_name": "Kore"}}},
    "tools": [{"function_declarations": [ROLL, NOTE]}],
    "realtime_input_config": {"automatic_activity_detection": {"disabled": True}},
    "input_audio_transcription": {},
    "output_audio_transcription": {},
    "session_resumption": {},
}
# 100 ms of 16 kHz.
PIECE = types.Blob(data=bytes(3200), mime_type="audio/pcm;rate=16000")
# Longest wait for a message, in seconds.
PATIENCE = 20

seen = set()
unknown = set()


def kinds(message):
    """Names of all that a message has in it."""
    for name, value in message.model_dump(exclude_none=True).items():
        yield name
        if name == "server_content":
            yield from value


class Talk:
    """A session whose messages are all held against the client's types."""

    def __init__(self, session):
        self.session = session
        self.handle = None
        receive = session._ws.recv

        async def checked(**how):
            data = await asyncio.wait_for(receive(**how), PATIENCE)
            try:
                message = types.LiveServerMessage.model_validate_json(data)
            except ValidationError as error:
                unknown.update(".".join(map(str, it["loc"])) for it in error.errors())
                return data
            seen.update(kinds(message))
            update = message.session_resumption_update
            if update and update.resumable and update.new_handle:
                self.handle = update.new_handle
            return data

        session._ws.recv = checked

    async def turn(self, results=None, stop=False):
        """A whole turn: calls get these results, or it is interrupted as soon as it sounds."""
        told = {"text": "", "seconds": 0, "calls": [], "together": 0, "ends": []}
        async for message in self.session.receive():
            together = message.model_dump(exclude_none=True)
            told["together"] = max(told["together"], len(together))
            content = message.server_content
            if message.tool_call:
                calls = message.tool_call.function_calls
                told["calls"] += [[it.id, it.name, it.args] for it in calls]
                if results:
                    await self.session.send_tool_response(
                        function_responses=[
                            types.FunctionResponse(id=it.id, name=it.name, **results) for it in calls
                        ]
                    )
            if message.usage_metadata:
                told["usage"] = usage(message.usage_metadata)
            if not content:
                continue
            if content.output_transcription:
                told["text"] += content.output_transcription.text or ""
            told["seconds"] += len(message.data or b"") / 48000
            if message.data and stop:
                stop = False
                await self.session.send_realtime_input(activity_start={})
                await self.session.send_realtime_input(activity_end={})
            for name in ["interrupted", "generation_complete", "turn_complete"]:
                told["ends"] += [name] if getattr(content, name) else []
        return told

    async def asked(self, text, **how):
        said = types.Content(role="user", parts=[types.Part(text=text)])
        await self.session.send_client_content(turns=said, turn_complete=True)
        return await self.turn(**how)

    async def spoken(self, **how):
        """A second of sound."""
        await self.session.send_realtime_input(activity_start={})
        for _ in range(10):
            await self.session.send_realtime_input(audio=PIECE)
        await self.session.send_realtime_input(activity_end={})
        return await self.turn(**how)

    async def resumable(self):
        """The handle of what was said so far."""
        while not self.handle:
            await self.session._receive()
        return self.handle


def usage(told):
    def by_kind(details):
        return {it.modality.value: it.token_count for it in details or []}

    heard, spoken = by_kind(told.prompt_tokens_details), by_kind(told.response_tokens_details)
    assert told.total_token_count == told.prompt_token_count + told.response_token_count
    assert told.prompt_token_count == sum(heard.values()), told
    return {"heard": heard.get("AUDIO", 0), "spoken": spoken.get("AUDIO", 0)}


def plain(connect):
    """The client's way to connect, which is for wss:// alone: the counterpart has no certificate."""
    return lambda uri, ssl=None, **more: connect(uri.replace("wss:", "ws:", 1), **more)


def client(key):
    return genai.Client(api_key=key, http_options=types.HttpOptions(base_url=address, api_version="v1beta"))


def connect(**changed):
    return client(key).aio.live.connect(model=MODEL, config=CONFIG | changed)


async def talk():
    async with connect() as session:
        talk = Talk(session)
        heard = {"is_set_up": session.setup_complete is not None}
        heard["called"] = await talk.spoken(results={"response": {"output": {"total": 9}}})
        heard["stopped"] = await talk.asked("Anna: tell us all of it.", stop=True)
        silent = {"response": {"output": "kept"}, "scheduling": "SILENT"}
        heard["silent"] = await talk.asked("Anna: write that down.", results=silent)
        talk.handle = None
        idle = {"response": {"output": "kept"}, "scheduling": "WHEN_IDLE"}
        heard["idle"] = await talk.asked("Anna: and that.", results=idle)
        heard["after"] = await talk.turn()
        handle = await talk.resumable()
    async with connect(session_resumption={"handle": handle}) as session:
        heard["resumed"] = await Talk(session).asked("Anna: are you there?")
    return heard


async def refused(does, model=MODEL, its_key=None, **changed):
    """Code and reason with which something is refused."""
    try:
        its = client(its_key or key).aio.live.connect(model=model, config=CONFIG | changed)
        async with its as session:
            await does(session)
            await asyncio.wait_for(session._receive(), PATIENCE)
    except errors.APIError as error:
        return [error.code, error.details if isinstance(error.details, str) else str(error)]
    return "taken"


async def nothing(_session):
    pass


async def mistakes():

    async def sound(session):
        await session.send_realtime_input(audio=PIECE)

    async def result(session):
        nobodys = types.FunctionResponse(id="nobodys", name="roll", response={"output": 1})
        await session.send_tool_response(function_responses=nobodys)

    async def flat(session):
        await session._ws.send(json.dumps({"realtimeInput": {"sound": "x"}}))

    async def again(session):
        await session._ws.send(json.dumps({"setup": {"model": f"models/{MODEL}"}}))

    nobodys = {"voice_config": {"prebuilt_voice_config": {"voice_name": "Karl"}}}
    return {
        "key": await refused(nothing, its_key="another"),
        "model": await refused(nothing, model="gemini-1.0-live"),
        "voice": await refused(nothing, speech_config=nobodys),
        "thinking": await refused(nothing, thinking_config={"thinking_budget": 0}),
        "handle": await refused(nothing, session_resumption={"handle": "forgotten"}),
        "sound": await refused(sound),
        "result": await refused(result),
        "field": await refused(flat),
        "setup": await refused(again),
    }


async def main():
    return await talk() | {"mistakes": await mistakes()}


if sys.argv[1:]:
    address, key = sys.argv[1:]
    live.ws_connect = plain(live.ws_connect)
    heard = asyncio.run(main())
else:
    heard = {}
    for line in sys.stdin:
        sent = json.loads(line)
        # The client's own type of a setup lacks this, which its settings of a session have.
        hearing = sent.get("setup", {}).pop("realtimeInputConfig", {})
        try:
            types.RealtimeInputConfig.model_validate(hearing)
            seen.update(types.LiveClientMessage.model_validate(sent).model_dump(exclude_none=True))
        except ValidationError as error:
            unknown.update(".".join(map(str, it["loc"])) for it in error.errors())
print(json.dumps(heard | {"kinds": sorted(seen), "unknown": sorted(unknown)}))
