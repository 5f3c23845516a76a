"""The vendor's own client against the counterpart of tests: sdk.py ADDRESS KEY TEXT

Prints what it was told by both ways to speak, as one line of JSON. Every message is held against the
client's own types, which its sockets do not do by themselves.
"""

import json
import sys

from deepgram import DeepgramClient
from deepgram.environment import DeepgramClientEnvironment
from deepgram.speak.v1.types import SpeakV1Text
from deepgram.speak.v2.types import SpeakV2Speak

address, key, TEXT = sys.argv[1:]
sockets = address.replace("http", "ws", 1)
client = DeepgramClient(
    api_key=key,
    environment=DeepgramClientEnvironment(
        base=address, production=sockets, agent=sockets, agent_rest=address
    ),
)
SOUND = {"encoding": "linear16", "sample_rate": "24000"}


def until(socket, kind, seen):
    """The next message of this kind; those before it, and the length of sound, go to `seen`."""
    while True:
        message = socket.recv()
        if isinstance(message, bytes):
            seen["bytes"] = seen.get("bytes", 0) + len(message)
            continue
        message = type(message).model_validate(message.model_dump())
        seen.setdefault("kinds", []).append(message.type)
        if message.type == kind:
            return message


def aura():
    seen = {}
    with client.speak.v1.connect(model="aura-2-thalia-en", speed=0.9, **SOUND) as socket:
        until(socket, "Metadata", seen)
        socket.send_text(SpeakV1Text(type="Speak", text=TEXT))
        socket.send_flush()
        until(socket, "Flushed", seen)
        socket.send_clear()
        until(socket, "Cleared", seen)
        socket.send_close()
    return seen


def flux():
    seen = {}
    with client.speak.v2.connect(model="flux-haley-en", speed=0.9, **SOUND) as socket:
        until(socket, "Connected", seen)
        socket.send_speak(SpeakV2Speak(type="Speak", text=TEXT))
        socket.send_flush()
        until(socket, "Flushed", seen)
        socket.send_interrupt()
        interrupted = until(socket, "SpeechInterrupted", seen)
        said = {}
        socket.send_speak(SpeakV2Speak(type="Speak", text=TEXT))
        socket.send_flush()
        whole = until(socket, "SpeechMetadata", said)
        socket.send_close()
        until(socket, "SessionMetadata", said)
    said["text_spoken"] = interrupted.text_spoken
    said["billed"] = whole.billable_character_count
    return said


def refused():
    other = DeepgramClient(api_key="dg-another", environment=client._client_wrapper.get_environment())
    try:
        with other.speak.v2.connect(model="flux-haley-en", **SOUND):
            return "taken"
    except Exception as error:
        return str(error)


listed = [voice.canonical_name for voice in client.manage.v1.models.list().tts]
print(json.dumps({"aura": aura(), "flux": flux(), "refused": refused(), "listed": listed}))
