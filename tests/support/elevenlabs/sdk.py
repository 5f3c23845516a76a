"""The vendor's own client against the counterpart of tests: sdk.py ADDRESS KEY VOICE TEXT

Prints what it was told as one line of JSON. The client has no multi-context socket, but it has the types of
its messages, its way of building addresses, and the library: every message goes through these.
"""

import base64
import json
import sys

from elevenlabs import (
    AudioOutputMulti,
    CloseContext,
    ElevenLabs,
    FinalOutputMulti,
    InitializeConnectionMulti,
    SendTextMulti,
)
from elevenlabs.core.api_error import ApiError
from elevenlabs.url_utils import build_ws_url
from websockets.sync.client import connect

address, key, voice, text = sys.argv[1:]
client = ElevenLabs(api_key=key, base_url=address)


def opened():
    path = ["v1", "text-to-speech", voice, "multi-stream-input"]
    query = {"model_id": "eleven_flash_v2_5", "output_format": "pcm_24000", "language_code": "en"}
    headers = client._client_wrapper.get_headers()
    return connect(build_ws_url(address, path, query), additional_headers=headers, proxy=None)


def send(socket, message):
    socket.send(json.dumps(message.dict(exclude_none=True)))


def read(socket):
    message = json.loads(socket.recv(timeout=60))
    if "error" in message:
        return message["error"]
    kind = FinalOutputMulti if message.get("isFinal") else AudioOutputMulti
    return kind.model_validate(message)


def spoken(socket):
    for context in ["a", "b"]:
        send(socket, InitializeConnectionMulti(text=" ", context_id=context))
    send(socket, SendTextMulti(text=text + " ", context_id="a", flush=True))
    send(socket, CloseContext(context_id="a", close_context=True))
    send(socket, CloseContext(context_id="b", close_context=True))
    said, samples, finals = "", 0, []
    while len(finals) < 2:
        message = read(socket)
        if isinstance(message, FinalOutputMulti):
            finals.append(message.context_id)
            continue
        assert message.context_id == "a", message
        alignment = message.alignment
        assert len(alignment.chars) == len(alignment.char_start_times_ms), message
        assert len(alignment.chars) == len(alignment.char_durations_ms), message
        said += "".join(alignment.chars)
        samples += len(base64.b64decode(message.audio)) // 2
    return {"text": said, "ms": samples // 24}, finals


def sixth(socket):
    for number in range(6):
        send(socket, InitializeConnectionMulti(text=" ", context_id=f"context-{number}"))
    return read(socket)


def voices():
    names, token = [], None
    while True:
        page = client.voices.search(next_page_token=token, page_size=1)
        page = type(page).model_validate(page.model_dump())
        names += [voice.name for voice in page.voices]
        token = page.next_page_token
        if not page.has_more:
            return names


def refused():
    try:
        ElevenLabs(api_key="xi-another", base_url=address).voices.search()
    except ApiError as error:
        return error.status_code


with opened() as socket:
    said, contexts = spoken(socket)
    too_many = sixth(socket)
told = {"spoken": said, "contexts": contexts, "sixth": too_many, "voices": voices(), "refused": refused()}
print(json.dumps(told))
