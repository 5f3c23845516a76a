"""The vendor's own client against the counterpart of tests: sdk.py ADDRESS KEY

Prints what it was told on the main road and where it was refused, as one line of JSON. Every event is held
against the client's own types, strictly, which its sockets do not do by themselves; what the types do not
have is listed under "unknown".

Without arguments it holds what a client has sent against those types: one event a line of the input.
"""

import base64
import json
import sys
from typing import get_args

from openai import OpenAI
from openai.types.realtime import RealtimeClientEvent, RealtimeServerEvent
from pydantic import BaseModel
from websockets.exceptions import ConnectionClosed, InvalidStatus

MODEL = "gpt-realtime-2.1"
PCM = {"type": "audio/pcm", "rate": 24000}
ROLL = {
    "type": "function",
    "name": "roll",
    "description": "Rolls dice.",
    "parameters": {
        "type": "object",
        "properties": {"expression": {"type": "string"}},
        "required": ["expression"],
    },
}
SESSION = {
    "type": "realtime",
    "output_modalities": ["audio"],
    "instructions": "A gruff innkeeper.",
    "audio": {
        "input": {
            "format": PCM,
            "transcription": {"model": "gpt-4o-mini-transcribe"},
            "turn_detection": None,
        },
        "output": {"format": PCM, "voice": "cedar"},
    },
    "tools": [ROLL],
    "tool_choice": "auto",
    "max_output_tokens": 4096,
}
# 100 ms of 24 kHz.
PIECE = base64.b64encode(bytes(4800)).decode()



def kinds(union):
    """Types of events by their names."""
    types = get_args(get_args(union)[0])
    return {get_args(it.model_fields["type"].annotation)[0]: it for it in types}


TYPES = kinds(RealtimeServerEvent)
seen = []
unknown = set()


def extras(of, path):
    """Names of what the types do not have."""
    if isinstance(of, BaseModel):
        unknown.update(f"{path}.{name}" for name in of.model_extra or {})
        for name in type(of).model_fields:
            extras(getattr(of, name), f"{path}.{name}")
    elif isinstance(of, list):
        for one in of:
            extras(one, path)


def told(socket):
    """The next event, as the client would have made it."""
    data = socket.recv_bytes()
    event = socket.parse_event(data)
    kind = TYPES[event.type]
    assert type(event) is kind, (type(event), kind)
    extras(kind.model_validate_json(data, strict=True), event.type)
    seen.append(event.type)
    return event


def until(socket, kind):
    """All events up to the first of `kind`."""
    events = []
    while not events or events[-1].type != kind:
        events.append(told(socket))
    return events


def only(events, kind):
    return [event for event in events if event.type == kind]


def usage(done):
    told = done.response.usage
    parts_in, parts_out = told.input_token_details, told.output_token_details
    cached = parts_in.cached_tokens_details
    assert told.total_tokens == told.input_tokens + told.output_tokens
    assert told.input_tokens == parts_in.text_tokens + parts_in.audio_tokens
    assert told.output_tokens == parts_out.text_tokens + parts_out.audio_tokens
    assert parts_in.cached_tokens == cached.text_tokens + cached.audio_tokens
    return {
        "heard": parts_in.audio_tokens,
        "cached": parts_in.cached_tokens,
        "spoken": parts_out.audio_tokens,
        "written": parts_out.text_tokens,
    }


def answered(events):
    """An answer in the words of its events."""
    deltas = [base64.b64decode(it.delta) for it in only(events, "response.output_audio.delta")]
    words = [it.delta for it in only(events, "response.output_audio_transcript.delta")]
    response = events[-1].response
    details = response.status_details
    return {
        "text": "".join(words),
        "seconds": sum(map(len, deltas)) / 48000,
        "status": response.status,
        "reason": details and details.reason,
        "output": [[it.type, it.status] for it in response.output],
        "usage": usage(events[-1]),
    }


def opened(socket):
    first = told(socket)
    socket.session.update(session=SESSION)
    session = until(socket, "session.updated")[-1].session
    return {
        "first": first.type,
        "model": session.model,
        "turns": session.audio.input.turn_detection,
        "rates": [session.audio.input.format.rate, session.audio.output.format.rate],
        "voice": session.audio.output.voice,
        "tools": [tool.name for tool in session.tools],
        "most": session.max_output_tokens,
    }


def called(socket):
    """A second of sound, answered by a call."""
    for _ in range(10):
        socket.input_audio_buffer.append(audio=PIECE)
    socket.input_audio_buffer.commit()
    committed = until(socket, "input_audio_buffer.committed")[-1]
    added = until(socket, "conversation.item.done")[-1].item
    socket.response.create()
    events = until(socket, "response.done")
    done = only(events, "response.function_call_arguments.done")[0]
    deltas = only(events, "response.function_call_arguments.delta")
    output = [{"total": 9}]
    socket.conversation.item.create(
        item={"type": "function_call_output", "call_id": done.call_id, "output": json.dumps(output)}
    )
    result = until(socket, "conversation.item.done")[-1].item
    return {
        "one_item": committed.item_id == added.id,
        "call": [done.call_id, done.name, json.loads(done.arguments)],
        "in_pieces": "".join(it.delta for it in deltas) == done.arguments,
        "result_of": result.call_id,
        **answered(events),
    }


def spoken(socket):
    socket.response.create()
    return answered(until(socket, "response.done"))


def stopped(socket):
    """An answer that is cancelled and cut as soon as it sounds."""
    socket.conversation.item.create(
        item={
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Anna: tell us all of it."}],
        }
    )
    socket.response.create()
    events = until(socket, "response.output_audio.delta")
    item = events[-1].item_id
    socket.response.cancel()
    events += until(socket, "response.done")
    socket.conversation.item.truncate(item_id=item, content_index=0, audio_end_ms=100)
    cut = until(socket, "conversation.item.truncated")[-1]
    return {"cut": [cut.item_id == item, cut.audio_end_ms], **answered(events)}, item


def complained(socket):
    error = until(socket, "error")[-1].error
    return [error.code, error.event_id]


def mistaken(socket, item):
    """Events that are refused; the session goes on."""
    flat = {"type": "realtime", "voice": "marin", "input_audio_format": "pcm16"}
    socket.session.update(session=flat, event_id="flat")
    errors = [complained(socket)]
    socket.conversation.item.truncate(
        item_id=item, content_index=0, audio_end_ms=60000, event_id="beyond"
    )
    errors.append(complained(socket))
    socket.input_audio_buffer.commit(event_id="silent")
    errors.append(complained(socket))
    socket.input_audio_buffer.clear()
    until(socket, "input_audio_buffer.cleared")
    return errors


def talk():
    with OpenAI(api_key=key, base_url=address).realtime.connect(model=MODEL) as socket:
        heard = {"session": opened(socket), "call": called(socket), "answer": spoken(socket)}
        heard["stopped"], item = stopped(socket)
        return heard | {"mistakes": mistaken(socket, item)}


def refused():
    """A wrong key."""
    try:
        with OpenAI(api_key="sk-another", base_url=address).realtime.connect(model=MODEL):
            return "taken"
    except InvalidStatus as error:
        return [error.response.status_code, json.loads(error.response.body)["error"]["code"]]


def retired():
    """The header of the beta form."""
    beta = {"OpenAI-Beta": "realtime=v1"}
    client = OpenAI(api_key=key, base_url=address)
    with client.realtime.connect(model=MODEL, extra_headers=beta) as socket:
        error = told(socket).error
        try:
            return told(socket).type
        except ConnectionClosed as closed:
            return [error.code, closed.rcvd.code, closed.rcvd.reason]


if sys.argv[1:]:
    address, key = sys.argv[1:]
    heard = talk() | {"refused": refused(), "retired": retired()}
else:
    heard = {}
    for line in sys.stdin:
        seen.append(json.loads(line)["type"])
        extras(kinds(RealtimeClientEvent)[seen[-1]].model_validate_json(line, strict=True), seen[-1])
print(json.dumps(heard | {"events": sorted(set(seen)), "unknown": sorted(unknown)}))
