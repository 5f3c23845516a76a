#!/usr/bin/env python3
"""Makes the shipped ambience: six loops without a gap, as Ogg Opus, beside this file.

    python3 assets/music/make.py [NAME ...]

Everything is synthesised here, from noise and sines with fixed seeds: no recording, and no licence but
this repository's. Needs the standard library of Python 3.9 or later and the shared library of libopus
(Debian: libopus0). It gives the same files again with the same libopus. Takes about two minutes.
"""

import ctypes
import ctypes.util
import math
import os
import random
import struct
import sys

RATE = 24_000
BITRATE = 40_000
FRAME = RATE // 50
TAU = 2 * math.pi


# Sound that goes round: filters are warmed up on the loop's end, what is added wraps.


def silence(seconds):
    return [0.0] * int(seconds * RATE)


def white(rng, n):
    rand = rng.random
    return [rand() * 2 - 1 for _ in range(n)]


def low(x, hz):
    """One pole, 6 dB an octave."""
    k = 1 - math.exp(-TAU * hz / RATE)
    y = 0.0
    for v in x[-RATE:]:
        y += k * (v - y)
    out = []
    for v in x:
        y += k * (v - y)
        out.append(y)
    return out


def high(x, hz):
    return [a - b for a, b in zip(x, low(x, hz))]


def wander(rng, n, points, lowest, highest):
    """A curve through `points` random heights, smooth and round."""
    heights = [rng.uniform(lowest, highest) for _ in range(points)]
    out = []
    for i in range(n):
        at = i * points / n
        k = int(at)
        t = (1 - math.cos(math.pi * (at - k))) / 2
        out.append(heights[k % points] * (1 - t) + heights[(k + 1) % points] * t)
    return out


def swept(x, centre, q):
    """A band whose centre moves (state variable filter)."""
    band = lows = 0.0
    damp = 1 / q
    out = []
    n = len(x)
    for i in range(-RATE, n):
        f = 2 * math.sin(math.pi * centre[i] / RATE)
        lows += f * band
        band += f * (x[i] - lows - damp * band)
        if i >= 0:
            out.append(band)
    return out


def mixed(*parts):
    """Sounds with their gains, added."""
    out = [0.0] * len(parts[0][1])
    for gain, x in parts:
        for i, v in enumerate(x):
            out[i] += gain * v
    return out


def add(out, at, sound, gain=1.0):
    n = len(out)
    at = int(at) % n
    for v in sound:
        out[at] += gain * v
        at += 1
        if at == n:
            at = 0


def tone(hz, to_hz, seconds, decay, attack=0.001):
    """A sine from one pitch to another that fades."""
    n = int(seconds * RATE)
    phase = 0.0
    out = []
    for i in range(n):
        t = i / n
        phase += TAU * (hz + (to_hz - hz) * t) / RATE
        s = i / RATE
        out.append(math.sin(phase) * math.exp(-s / decay) * min(1.0, s / attack) * min(1.0, 20 * (1 - t)))
    return out


def burst(rng, seconds, decay):
    n = int(seconds * RATE)
    return [(rng.random() * 2 - 1) * math.exp(-i / RATE / decay) for i in range(n)]


def room(x, wet, decay, damp=0.35):
    """A room: four damped combs and two all-passes, each fed with the loop twice."""
    n = len(x)
    total = [0.0] * n
    for length in (0.0297, 0.0371, 0.0411, 0.0437):
        size = int(length * RATE * 1.3)
        gain = 10 ** (-3 * size / RATE / decay)
        line = [0.0] * size
        kept = 0.0
        at = 0
        for turn in range(2):
            for i in range(n):
                y = line[at]
                kept = y * (1 - damp) + kept * damp
                line[at] = x[i] + kept * gain
                at += 1
                if at == size:
                    at = 0
                if turn:
                    total[i] += y
    for size in (119, 40):
        line = [0.0] * size
        at = 0
        out = [0.0] * n
        for turn in range(2):
            for i in range(n):
                held = line[at]
                v = total[i] + 0.6 * held
                line[at] = v
                at = (at + 1) % size
                if turn:
                    out[i] = held - 0.6 * v
        total = out
    return [a + wet * 0.25 * b for a, b in zip(x, total)]


# The six.


def rain():
    rng = random.Random("rain")
    out = silence(26)
    n = len(out)
    hiss = high(low(low(white(rng, n), 5_500), 9_000), 700)
    patter = low(high(white(rng, n), 250), 1_100)
    swell = wander(rng, n, 9, 0.75, 1.1)
    grain = wander(rng, n, 700, 0.7, 1.3)
    out = [s * (0.8 * h + 0.35 * p * g) for s, h, p, g in zip(swell, hiss, patter, grain)]
    for _ in range(2_400):
        hz = rng.uniform(1_300, 5_200)
        drop = tone(hz, hz * rng.uniform(1.0, 1.3), 0.014, rng.uniform(0.0015, 0.005), 0.0004)
        add(out, rng.randrange(n), drop, 0.06 + 0.32 * rng.random() ** 4)
    for _ in range(170):
        hz = rng.uniform(240, 620)
        add(out, rng.randrange(n), tone(hz * 1.4, hz, 0.05, 0.012), 0.10 + 0.25 * rng.random() ** 3)
    return room(out, 0.25, 0.5)


def voice(rng, n):
    """Somebody who talks without words: phrases of syllables, a buzz through two formants."""
    out = [0.0] * n
    pitch = rng.choice((95, 110, 120, 135, 180, 200, 215)) * rng.uniform(0.93, 1.07)
    vowels = ((730, 1_090), (530, 1_840), (390, 1_990), (570, 840), (440, 1_020), (490, 1_350), (660, 1_720))
    at = rng.randrange(n)
    end = at + n - RATE
    rand = rng.random
    while at < end:
        tune = rng.uniform(0.9, 1.2)
        for _ in range(rng.randint(3, 13)):
            length = int(rng.uniform(0.11, 0.27) * RATE)
            first, second = rng.choice(vowels)
            f1 = 2 * math.sin(math.pi * first / RATE)
            f2 = 2 * math.sin(math.pi * second / RATE)
            b1 = l1 = b2 = l2 = phase = 0.0
            step = pitch * tune * rng.uniform(0.92, 1.1) / RATE
            loud = rng.uniform(0.5, 1.0)
            sound = []
            for i in range(length):
                phase += step
                if phase >= 1:
                    phase -= 1
                v = phase - 0.5 + 0.06 * (rand() - 0.5)
                l1 += f1 * b1
                b1 += f1 * (v - l1 - 0.14 * b1)
                l2 += f2 * b2
                b2 += f2 * (v - l2 - 0.10 * b2)
                t = i / length
                sound.append((b1 + 0.45 * b2) * math.sin(math.pi * t) ** 0.7)
            add(out, at, sound, loud)
            if rand() < 0.4:
                add(out, at - 0.04 * RATE, burst(rng, 0.05, 0.015), 0.10 * loud)
            at += length
            tune *= 0.985
            if at >= end:
                break
        at += int(rng.uniform(0.3, 2.6) * RATE)
    return out


def tavern():
    rng = random.Random("tavern")
    out = silence(28)
    n = len(out)
    for _ in range(15):
        far = rng.uniform(900, 2_600)
        gain = rng.uniform(0.35, 1.0)
        for i, v in enumerate(low(voice(rng, n), far)):
            out[i] += gain * v
    for _ in range(13):
        at = rng.randrange(n)
        hz = rng.uniform(1_500, 2_900)
        gain = rng.uniform(0.08, 0.3)
        for ratio, decay in ((1.0, 0.09), (1.53, 0.06), (2.31, 0.04), (2.93, 0.03)):
            add(out, at, tone(hz * ratio, hz * ratio, 0.35, decay), gain / ratio)
    for _ in range(16):
        hz = rng.uniform(85, 150)
        at = rng.randrange(n)
        add(out, at, tone(hz * 1.5, hz, 0.18, 0.05), rng.uniform(0.3, 0.9))
        add(out, at, burst(rng, 0.04, 0.008), 0.12)
    air = low(low(white(rng, n), 400), 900)
    return room(mixed((1.0, out), (0.25, air)), 0.8, 0.9)


def fire():
    rng = random.Random("fire")
    n = len(silence(24))
    roar = low(low(white(rng, n), 150), 320)
    flutter = wander(rng, n, 150, 0.5, 1.4)
    hiss = low(high(white(rng, n), 2_600), 7_000)
    breath = wander(rng, n, 40, 0.3, 1.0)
    out = [2.6 * r * f + 0.045 * h * b for r, f, h, b in zip(roar, flutter, hiss, breath)]
    at = 0.0
    while at < n:
        at += rng.expovariate(1.0) * RATE / 9
        if rng.random() < 0.22:
            for _ in range(rng.randint(3, 12)):
                at += rng.uniform(0.004, 0.05) * RATE
                add(out, at, burst(rng, 0.012, rng.uniform(0.0006, 0.003)), 0.1 + 0.5 * rng.random() ** 2)
        add(out, at, burst(rng, 0.012, rng.uniform(0.0005, 0.002)), 0.08 + 0.6 * rng.random() ** 4)
    for _ in range(16):
        hz = rng.uniform(350, 900)
        at = rng.randrange(n)
        add(out, at, tone(hz, hz * 0.6, 0.06, 0.012), rng.uniform(0.15, 0.5))
        add(out, at, burst(rng, 0.02, 0.003), 0.4)
    return room(low(out, 8_000), 0.2, 0.35)


def wind():
    rng = random.Random("wind")
    n = len(silence(32))
    gusts = wander(rng, n, 11, 0.0, 1.0)
    shiver = wander(rng, n, 60, -0.12, 0.12)
    force = [min(1.1, max(0.0, g + s)) for g, s in zip(gusts, shiver)]
    source = white(rng, n)
    body = swept(source, [170 + 420 * f for f in force], 2.2)
    moan = swept(white(rng, n), [430 + 520 * f for f in force], 14)
    whistle = swept(white(rng, n), [900 + 900 * f for f in force], 22)
    deep = low(low(source, 90), 160)
    out = [
        (0.18 + 0.9 * f) * b + 0.30 * f * m + 0.13 * f * f * w + 1.4 * d
        for f, b, m, w, d in zip(force, body, moan, whistle, deep)
    ]
    return room(out, 0.35, 1.2)


def dungeon():
    rng = random.Random("dungeon")
    n = len(silence(30))
    seconds = n / RATE
    air = low(low(white(rng, n), 220), 420)
    swell = wander(rng, n, 7, 0.5, 1.0)
    tones = [(1_650, 0.5), (1_653, 0.5), (2_475, 0.25), (3_301, 0.13), (4_950, 0.05)]
    drone = [0.0] * n
    for cycles, gain in tones:
        slow = wander(rng, n, 6, 0.3, 1.0)
        step = TAU * cycles / n
        for i in range(n):
            drone[i] += gain * slow[i] * math.sin(step * i)
    out = [0.9 * a * s + 0.16 * d for a, s, d in zip(air, swell, drone)]
    spots = [(rng.uniform(850, 1_900), rng.uniform(0.25, 0.8), rng.uniform(1.7, 5.1)) for _ in range(5)]
    for hz, gain, every in spots:
        times = round(seconds / every)
        first = rng.random() * n
        for k in range(times):
            at = first + (k + rng.uniform(-0.12, 0.12)) * n / times
            own = hz * rng.uniform(0.97, 1.03)
            add(out, at, tone(own * 0.8, own, 0.012, 0.006), gain * 0.5)
            add(out, at + 0.016 * RATE, tone(own, own * 1.45, 0.11, 0.022), gain * rng.uniform(0.7, 1.0))
    for at, hz in ((0.21, 62), (0.68, 49)):
        rumble = low([v * math.sin(math.pi * i / (3 * RATE)) for i, v in enumerate(white(rng, 3 * RATE))], hz)
        add(out, at * n, rumble, 2.2)
    return room(out, 1.5, 3.6, 0.25)


def drums():
    rng = random.Random("drums")
    beat = int(0.6 * RATE)
    bars = 12
    n = bars * 4 * beat
    out = [0.0] * n

    def struck(at, hz, decay, gain):
        at = at * beat + rng.uniform(-0.004, 0.004) * RATE
        size = 1 + 0.25 * (gain - 0.7)
        add(out, at, tone(hz * 1.9 * size, hz, 0.07, 0.03, 0.0015), 0.7 * gain)
        add(out, at, tone(hz * 1.06, hz * 0.94, decay * 3, decay, 0.002), gain)
        add(out, at, low(burst(rng, 0.05, 0.010), 2_400), 0.5 * gain)

    def great(at, gain):
        struck(at, 56, 0.34, 1.15 * gain)

    def middle(at, gain):
        struck(at, 104, 0.20, 0.75 * gain)

    def small(at, gain):
        struck(at, 172, 0.11, 0.5 * gain)

    def rim(at, gain):
        add(out, at * beat, high(burst(rng, 0.03, 0.006), 1_400), 0.45 * gain)

    for bar in range(bars):
        start = bar * 4
        push = 1.0 + 0.12 * (bar % 4 == 3)
        great(start, 1.0 * push)
        great(start + 1.5, 0.72)
        great(start + 2, 0.95 * push)
        if bar % 2:
            great(start + 3.5, 0.7)
        for eighth in (1, 2, 3, 5, 6, 7):
            middle(start + eighth / 2, (0.85 if eighth in (3, 6) else 0.5) * push * rng.uniform(0.9, 1.1))
        if bar >= 2:
            for sixteenth in range(16):
                if sixteenth % 4 in (2, 3) or rng.random() < 0.25:
                    small(start + sixteenth / 4, rng.uniform(0.4, 0.75))
        if bar >= 4:
            rim(start + 1, 0.8)
            rim(start + 3, 0.9)
        if bar % 4 == 3:
            for k in range(8):
                small(start + 3 + k / 8, 0.45 + 0.08 * k)
                middle(start + 3 + k / 8, 0.3 + 0.07 * k)
    # Low horns, far off, swell twice.
    horn = [0.0] * n
    for hz in (73.42, 73.74, 110.0, 146.8):
        cycles = round(hz * n / RATE)
        for i in range(n):
            t = cycles * i / n
            horn[i] += (t - int(t)) * 2 - 1
    swell = [max(0.0, math.sin(TAU * (2 * i / n - 0.12))) ** 2 for i in range(n)]
    horn = [h * s for h, s in zip(low(low(horn, 330), 520), swell)]
    return room(mixed((1.0, out), (0.11, horn)), 0.7, 1.4)


LOOPS = {"rain": rain, "tavern": tavern, "fire": fire, "wind": wind, "dungeon": dungeon, "drums": drums}


# To the level of other tracks.


def loudness(x):
    """LUFS of the loop (ITU-R BS.1770-4: weighted, in gated blocks of 400 ms)."""
    n = len(x)
    for f0, q, shelf in ((1_681.9744509555, 0.7071752370, 3.9998438540), (38.1354708760, 0.5003270373, None)):
        k = math.tan(math.pi * f0 / RATE)
        a0 = 1 + k / q + k * k
        a1, a2 = 2 * (k * k - 1) / a0, (1 - k / q + k * k) / a0
        if shelf:
            vh = 10 ** (shelf / 20)
            vb = vh**0.4996667741545416
            b0, b1, b2 = (vh + vb * k / q + k * k) / a0, 2 * (k * k - vh) / a0, (vh - vb * k / q + k * k) / a0
        else:
            b0, b1, b2 = 1.0, -2.0, 1.0
        z1 = z2 = 0.0
        out = []
        for i in range(-RATE, n):
            v = x[i]
            y = b0 * v + z1
            z1 = b1 * v - a1 * y + z2
            z2 = b2 * v - a2 * y
            if i >= 0:
                out.append(y)
        x = out
    tenth = RATE // 10
    parts = [sum(v * v for v in x[i : i + tenth]) / tenth for i in range(0, n - tenth + 1, tenth)]
    blocks = [sum(parts[(i + k) % len(parts)] for k in range(4)) / 4 for i in range(len(parts))]

    def mean(least):
        loud = [b for b in blocks if -0.691 + 10 * math.log10(b + 1e-12) > least]
        return -0.691 + 10 * math.log10(sum(loud) / len(loud))

    return mean(mean(-70) - 10)


def levelled(x):
    """At -20 LUFS, as the program levels tracks; peaks are bent from a half up, so that none is cut."""
    middle = sum(x) / len(x)
    x = [v - middle for v in x]
    for _ in range(3):
        gain = 10 ** ((-20 - loudness(x)) / 20)
        out = []
        for v in x:
            v *= gain
            size = abs(v)
            if size > 0.5:
                v = math.copysign(0.5 + 0.34 * math.tanh((size - 0.5) / 0.34), v)
            out.append(v)
        x = out
    return x


# To files.


class Encoder:
    """libopus."""

    def __init__(self):
        name = ctypes.util.find_library("opus")
        if not name:
            sys.exit("make.py: no libopus found (install libopus0, or opus by Homebrew)")
        self.opus = ctypes.CDLL(name)
        self.opus.opus_encoder_create.restype = ctypes.c_void_p
        failure = ctypes.c_int()
        audio = 2049
        self.state = ctypes.c_void_p(self.opus.opus_encoder_create(RATE, 1, audio, ctypes.byref(failure)))
        music = 3002
        for request, value in ((4002, BITRATE), (4006, 1), (4010, 10), (4024, music)):
            self.opus.opus_encoder_ctl(self.state, request, ctypes.c_int(value))
        ahead = ctypes.c_int()
        self.opus.opus_encoder_ctl(self.state, 4027, ctypes.byref(ahead))
        self.ahead = ahead.value

    def packet(self, samples):
        room = ctypes.create_string_buffer(1_500)
        pcm = (ctypes.c_float * FRAME)(*samples)
        length = self.opus.opus_encode_float(self.state, pcm, FRAME, room, 1_500)
        if length < 0:
            sys.exit(f"make.py: libopus gave up ({length})")
        return room.raw[:length]


def checksum_table():
    table = []
    for i in range(256):
        value = i << 24
        for _ in range(8):
            value = (value << 1) ^ 0x04C11DB7 if value & 0x80000000 else value << 1
        table.append(value & 0xFFFFFFFF)
    return table


TABLE = checksum_table()


def page(packets, granule, number, flags):
    lacing = bytearray()
    for packet in packets:
        lacing += b"\xff" * (len(packet) // 255) + bytes([len(packet) % 255])
    head = struct.pack("<4sBBqIII", b"OggS", 0, flags, granule, 0x676C7978, number, 0)
    whole = bytearray(head + bytes([len(lacing)]) + bytes(lacing) + b"".join(packets))
    sum_ = 0
    for byte in whole:
        sum_ = (sum_ << 8 & 0xFFFFFFFF) ^ TABLE[sum_ >> 24 ^ byte]
    whole[22:26] = struct.pack("<I", sum_)
    return bytes(whole)


def encoded(x, title):
    """The loop with its own end before it and its own beginning after it, both of which players drop:
    that way the codec has heard what comes before the first sample, and the last one meets it."""
    encoder = Encoder()
    lead = RATE // 12
    skip = lead + encoder.ahead
    fed = x[-lead:] + x + x[: encoder.ahead + 2 * FRAME]
    frames = -(-(skip + len(x)) // FRAME)
    packets = [encoder.packet(fed[i * FRAME : (i + 1) * FRAME]) for i in range(frames)]
    scale = 48_000 // RATE
    maker, comment = b"Glyphoxa", f"TITLE={title}".encode()
    tags = struct.pack("<I", len(maker)) + maker + struct.pack("<II", 1, len(comment)) + comment
    head = struct.pack("<8sBBHIhB", b"OpusHead", 1, 1, skip * scale, RATE, 0, 0)
    out = page([head], 0, 0, 2) + page([b"OpusTags" + tags], 0, 1, 0)
    number = 2
    for first in range(0, frames, 50):
        last = min(first + 50, frames)
        ends = last == frames
        granule = (skip + len(x)) * scale if ends else last * FRAME * scale
        out += page(packets[first:last], granule, number, 4 if ends else 0)
        number += 1
    return out


def main():
    names = sys.argv[1:] or list(LOOPS)
    for name in names:
        if name not in LOOPS:
            sys.exit(f"make.py: no loop '{name}' (one of {', '.join(LOOPS)})")
        x = levelled(LOOPS[name]())
        data = encoded(x, name)
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.opus"), "wb") as file:
            file.write(data)
        print(f"{name}: {len(x) / RATE:.1f} s, {len(data) // 1_000} kB")


main()
