"""A recogniser and a voice made with the protocol's own library, for tests/wyoming.rs.

    server.py WORDS [pieces]

It hears WORDS in whatever it is told, speaks a tone, and prints a line of JSON for each, after the
port that it listens at.
"""

import asyncio
import json
import math
import struct
import sys

from wyoming.asr import Transcribe, Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.audio import AudioChunk, AudioChunkConverter, AudioStart, AudioStop
from wyoming.info import AsrModel, AsrProgram, Attribution, Describe, Info, TtsProgram, TtsVoice
from wyoming.server import AsyncEventHandler, AsyncServer
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
)

RATE = 22_050
WORDS = sys.argv[1].split()
PIECES = "pieces" in sys.argv[2:]


def about(name):
    nobody = Attribution(name="nobody", url="http://127.0.0.1")
    return dict(name=name, attribution=nobody, installed=True, description=None, version="1")


INFO = Info(
    asr=[
        AsrProgram(
            **about("python-ears"),
            models=[AsrModel(**about("any"), languages=["en"])],
            supports_transcript_streaming=PIECES,
        )
    ],
    tts=[
        TtsProgram(
            **about("python-mouth"),
            voices=[TtsVoice(**about("deep"), languages=["en"])],
            supports_synthesize_streaming=PIECES,
        )
    ],
)


class Handler(AsyncEventHandler):
    def __init__(self, *streams):
        super().__init__(*streams)
        self.converter = AudioChunkConverter(rate=16_000, width=2, channels=1)
        self.request, self.sound, self.told, self.pieces = Transcribe(), b"", 0, None

    async def tell(self, event):
        await self.write_event(event.event())

    async def handle_event(self, event):
        if Describe.is_type(event.type):
            await self.tell(INFO)
        elif Transcribe.is_type(event.type):
            self.request = Transcribe.from_event(event)
        elif AudioChunk.is_type(event.type):
            self.sound += self.converter.convert(AudioChunk.from_event(event)).audio
            await self.pieces_so_far()
        elif AudioStop.is_type(event.type):
            return await self.transcript()
        elif Synthesize.is_type(event.type):
            request = Synthesize.from_event(event)
            await self.speak(request.text, request.voice, False)
        elif SynthesizeStart.is_type(event.type):
            self.pieces = (SynthesizeStart.from_event(event).voice, "")
        elif SynthesizeChunk.is_type(event.type):
            voice, text = self.pieces
            self.pieces = (voice, text + SynthesizeChunk.from_event(event).text)
        elif SynthesizeStop.is_type(event.type):
            voice, text = self.pieces
            await self.speak(text, voice, True)
            await self.tell(SynthesizeStopped())
        return True

    async def pieces_so_far(self):
        """A word for each 0.3 s, but the last."""
        while PIECES and self.told + 1 < len(WORDS) and len(self.sound) > 9_600 * (self.told + 1):
            await self.piece()

    async def piece(self):
        if self.told == 0:
            await self.tell(TranscriptStart(language="en"))
        await self.tell(TranscriptChunk(text=WORDS[self.told] + " "))
        self.told += 1

    async def transcript(self):
        said = dict(language=self.request.language, names=self.request.transcript_names)
        print(json.dumps(dict(heard=len(self.sound) / 32_000, **said)), flush=True)
        while PIECES and self.told < len(WORDS):
            await self.piece()
        await self.tell(Transcript(text=" ".join(WORDS)))
        if PIECES:
            await self.tell(TranscriptStop())
        return False

    async def speak(self, text, voice, in_pieces):
        name = voice.name if voice else None
        print(json.dumps(dict(spoken=text, voice=name, pieces=in_pieces)), flush=True)
        await self.tell(AudioStart(rate=RATE, width=2, channels=1))
        samples = [round(8_000 * math.sin(math.tau * 200 * at / RATE)) for at in range(RATE)]
        for at in range(0, RATE, 1_024):
            part = samples[at : at + 1_024]
            sound = struct.pack(f"<{len(part)}h", *part)
            await self.tell(AudioChunk(rate=RATE, width=2, channels=1, audio=sound))
        await self.tell(AudioStop())


async def main():
    server = AsyncServer.from_uri("tcp://127.0.0.1:0")
    await server.start(Handler)
    print("listening at", server._server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
