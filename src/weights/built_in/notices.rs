//! Notices required by the licences of the built-in sets.

pub const WHISPER: &str = "\
These files are OpenAI's Whisper (https://github.com/openai/whisper), converted by others to the format
of CTranslate2 and to half precision.

MIT License

Copyright (c) 2022 OpenAI

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the \"Software\"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
";

pub const PIPER_JOE: &str = "\
The voice en_US-joe-medium of Piper (https://huggingface.co/rhasspy/piper-voices). Its model card, beside
this file, gives the licence of its recordings as CC0
(https://github.com/NabuCasa/voice-datasets).

It was trained on from the voice lessac. The recordings of that one are of the Blizzard Challenge 2013,
whose licence is for research and excludes selling speech made from them. Whether that reaches this voice is
not settled: ask before you sell what it says.
";

/// The model card of that voice, as its package has it.
pub const PIPER_JOE_CARD: &str = "\
# Model card for joe (medium)

* Language: en_US (English, United States)
* Speakers: 1
* Quality: medium
* Samplerate: 22,050Hz

## Dataset

* URL: https://github.com/NabuCasa/voice-datasets
* License: CC0

## Training

Finetuned from U.S. English lessac voice (medium quality).
";

pub const SMART_TURN: &str = "\
Smart Turn v3.2 (https://github.com/pipecat-ai/smart-turn), BSD 2-Clause License, Copyright (c) 2024-2026,
Daily. The licence is beside this file. Its encoder began as that of OpenAI's Whisper tiny (MIT License,
Copyright (c) 2022 OpenAI).
";

pub const KOKORO: &str = "\
Kokoro-82M v1.0 by hexgrad (https://huggingface.co/hexgrad/Kokoro-82M), Apache License 2.0: see LICENSE and
NOTICE beside this file. The voices (*.bin) are those of kokoro-js, Apache License 2.0, unchanged. The
export to ONNX with int8 weights and the vocabulary are of kokoro-onnx, MIT License: see
LICENSE-kokoro-onnx-MIT. The model was in four parts, which were joined and not changed otherwise.
";
