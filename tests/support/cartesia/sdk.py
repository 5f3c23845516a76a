"""The vendor's own client against the counterpart of tests: sdk.py ADDRESS KEY VOICE

Prints what it was told as one line of JSON.
"""

import json
import sys

from cartesia import APIStatusError, Cartesia

address, key, voice = sys.argv[1:]
OLDER = {"cartesia-version": "2026-03-01"}
SOUND = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}
MODE = {"mode": "id", "id": voice}


def client(key):
    sockets = address.replace("http", "ws", 1)
    return Cartesia(api_key=key, base_url=address, websocket_base_url=sockets, max_retries=0)


def opened(headers):
    return client(key).tts.websocket_connect(extra_headers=headers)


def context(connection, name, voice, **more):
    shared = {"model_id": "sonic-3.6", "output_format": SOUND, "language": "en", "add_timestamps": True}
    return connection.context(name, voice=voice, timeout=60, **{**shared, "max_buffer_delay_ms": 0, **more})


def spoken(headers, voice):
    told = {"words": [], "last": 0, "ms": 0, "flushes": []}
    with opened(headers) as connection:
        turn = context(connection, "a", voice)
        turn.push("Well met. ")
        turn.push("Sit down. ")
        turn.no_more_inputs()
        for event in turn.receive():
            event = type(event).model_validate(event.model_dump())
            if event.type == "chunk":
                told["ms"] += len(event.audio) // 48
            elif event.type == "timestamps":
                told["words"] += event.word_timestamps.words
                told["last"] = event.word_timestamps.end[-1]
            elif event.type == "flush_done":
                told["flushes"].append(event.flush_id)
            else:
                assert event.type == "done", event
    return told


def error(event):
    assert event.type == "error", event
    return [event.status_code, event.error_code]


def sixth():
    with opened(OLDER) as connection:
        for number in range(6):
            # It waits for more text.
            context(connection, f"context-{number}", MODE, max_buffer_delay_ms=5000).push("Well ")
        return error(connection.recv())


def wordless():
    with opened(OLDER) as connection:
        context(connection, "a", MODE).push("… ")
        return error(connection.recv())


def changed():
    with opened(OLDER) as connection:
        turn = context(connection, "a", MODE, max_buffer_delay_ms=5000)
        turn.push("Well ")
        turn.push("met. ", language="de")
        return error(connection.recv())


def refused():
    try:
        client("sk_car_another").voices.list()
    except APIStatusError as error:
        return error.status_code


told = {
    "older": spoken(OLDER, MODE),
    "newer": spoken({}, voice),
    "sixth": sixth(),
    "wordless": wordless(),
    "changed": changed(),
    "voices": [voice.name for voice in client(key).voices.list(limit=1)],
    "refused": refused(),
}
print(json.dumps(told))
