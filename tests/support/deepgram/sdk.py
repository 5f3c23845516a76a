"""The vendor's own client against the counterpart of tests: sdk.py ADDRESS KEY RECORDING

Prints what it was told by both ways to listen, as one line of JSON. Every message is held against the
client's own types, which its sockets do not do by themselves.
"""

import json
import sys
import wave

from deepgram import DeepgramClient
from deepgram.environment import DeepgramClientEnvironment
from deepgram.listen.v1.types import ListenV1Configure
from deepgram.listen.v2.types import ListenV2Configure

address, key, recording = sys.argv[1:]
sockets = address.replace("http", "ws", 1)
client = DeepgramClient(
    api_key=key,
    environment=DeepgramClientEnvironment(
        base=address, production=sockets, agent=sockets, agent_rest=address
    ),
)
with wave.open(recording) as file:
    sound = file.readframes(file.getnframes())
FRAME = 2560


def send(socket, samples):
    for start in range(0, len(samples), FRAME):
        socket.send_media(samples[start : start + FRAME])


def checked(socket):
    message = socket.recv()
    return type(message).model_validate(message.model_dump())


def until(socket, is_wanted, seen):
    while True:
        message = checked(socket)
        seen.append(message)
        if is_wanted(message):
            return message


def nova():
    seen = []
    asked = {"encoding": "linear16", "sample_rate": 16000, "language": "en", "punctuate": "true"}
    asked |= {"interim_results": "true", "endpointing": "false", "keyterm": ["Bartok", "Mira"]}
    with client.listen.v1.connect(model="nova-3", **asked) as socket:
        send(socket, sound)
        socket.send_finalize()
        final = until(socket, lambda it: it.type == "Results" and it.from_finalize, seen)
        socket.send_keep_alive()
        socket.send_configure(ListenV1Configure(type="Configure", keyterms=["Hale"]))
        socket.send_configure(ListenV1Configure(type="Configure", keyterms=["Vesper"]))
        failed = until(socket, lambda it: it.type == "ConfigureFailure", seen)
        until(socket, lambda it: it.type == "ConfigureSuccess", seen)
        socket.send_close_stream()
        last = until(socket, lambda it: it.type == "Metadata", seen)
        return {
            "text": final.channel.alternatives[0].transcript,
            "interims": sum(1 for it in seen if it.type == "Results" and not it.is_final),
            "failed": failed.code,
            "duration": last.duration,
        }


def flux():
    seen = []
    asked = {"encoding": "linear16", "sample_rate": 16000, "eager_eot_threshold": 0.5}
    with client.listen.v2.connect(model="flux-general-en", keyterm=["Bartok"], **asked) as socket:
        send(socket, sound + bytes(FRAME * 15))
        end = until(socket, lambda it: getattr(it, "event", "") == "EndOfTurn", seen)
        socket.send_configure(ListenV2Configure(type="Configure", keyterms=["Hale"]))
        until(socket, lambda it: it.type == "ConfigureSuccess", seen)
        socket.send_close_stream()
        return {
            "text": end.transcript,
            "trigger": end.trigger,
            "events": [it.event for it in seen if it.type == "TurnInfo"],
            "in_order": [it.sequence_id for it in seen if hasattr(it, "sequence_id")]
            == list(range(len(seen))),
        }


def refused():
    other = DeepgramClient(api_key="dg-another", environment=client._client_wrapper.get_environment())
    try:
        with other.listen.v1.connect(model="nova-3", encoding="linear16", sample_rate=16000):
            return "taken"
    except Exception as error:
        return str(error)


print(json.dumps({"nova": nova(), "flux": flux(), "refused": refused()}))
