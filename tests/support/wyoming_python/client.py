"""The protocol's own client against the loopback service of the tests.

    client.py PORT

It prints one line of JSON: what the service is, hears and speaks.
"""

import asyncio
import json
import sys

from wyoming.asr import Transcribe, Transcript, TranscriptChunk
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.info import Describe, Info
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
    SynthesizeVoice,
)

FORMAT = dict(rate=16_000, width=2, channels=1)


async def asked(*events):
    """The events until the answer is whole."""
    ends = {"info", "transcript", "audio-stop", "error"}
    if any(SynthesizeStart.is_type(event.type) for event in events):
        ends = {"synthesize-stopped", "error"}
    answer = []
    async with AsyncTcpClient("127.0.0.1", int(sys.argv[1])) as client:
        for event in events:
            await client.write_event(event)
        while not answer or answer[-1].type not in ends:
            event = await client.read_event()
            assert event is not None, answer
            answer.append(event)
    return answer


def sound(events):
    chunks = [AudioChunk.from_event(event) for event in events if AudioChunk.is_type(event.type)]
    return [chunks[0].rate, sum(chunk.samples for chunk in chunks)]


async def main():
    info = Info.from_event((await asked(Describe().event()))[-1])
    second = b"\x40\x1f" * 16_000
    heard = await asked(
        Transcribe(language="en", transcript_names=["Mira"]).event(),
        AudioStart(**FORMAT).event(),
        AudioChunk(**FORMAT, audio=second).event(),
        AudioStop().event(),
    )
    voice = SynthesizeVoice(name=info.tts[0].voices[1].name)
    if info.tts[0].supports_synthesize_streaming:
        asks = [
            SynthesizeStart(voice=voice).event(),
            SynthesizeChunk(text="Well ").event(),
            SynthesizeChunk(text="met.").event(),
            SynthesizeStop().event(),
        ]
    else:
        asks = [Synthesize(text="Well met.", voice=voice).event()]
    spoken = await asked(*asks)
    pieces = [TranscriptChunk.from_event(it).text for it in heard if TranscriptChunk.is_type(it.type)]
    print(
        json.dumps(
            dict(
                hears=[program.name for program in info.asr],
                voices=[voice.name for voice in info.tts[0].voices],
                heard=Transcript.from_event(heard[-1]).text,
                pieces="".join(pieces).strip(),
                sound=sound(spoken),
            )
        )
    )


asyncio.run(main())
