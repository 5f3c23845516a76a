"""Makes reference.json: what a small random Whisper answers, computed by numpy in float64.

    python3 src/tests/reference.py > src/tests/reference.json

Written from the paper and OpenAI's code, not from this crate: plain matrices, the whole window of silence, no blocks.
The thinned window is computed as what it stands for: the positions of the plan, each standing as often in keys and
values as it counts. The decoder is computed twice, in float64 and with its layers rounded to int8 as this crate does.
tiny.rs makes the same weights by the same generator.
"""
import json
import math
import numpy as np

WIDTH, HEADS, BANDS, POSITIONS, CONTEXT, VOCABULARY, HIDDEN, LAYERS = 16, 2, 80, 40, 32, 300, 24, 2
TOKENS = [277, 65, 66, 67, 271, 273, 275, 279, 104]  # previous, prompt, start, language, task, no times, text


class Weights:
    """k / 256 for k from -64 to 64, in the order of tiny.rs."""
    def __init__(self):
        self.state = 1

    def take(self, *shape):
        out = np.empty(math.prod(shape))
        for i in range(out.size):
            self.state = (self.state * 1664525 + 1013904223) % 2**32
            out[i] = ((self.state >> 16) % 129 - 64) / 256
        return out.reshape(shape)

    def norm(self):
        return 1 + self.take(WIDTH), self.take(WIDTH)

    def linear(self, inputs, outputs):
        return self.take(outputs, inputs), self.take(outputs)


def hz_to_mel(f):
    return f * 3 / 200 if f < 1000 else 15 + 27 * math.log(f / 1000) / math.log(6.4)


def mel_to_hz(m):
    return m * 200 / 3 if m < 15 else 1000 * math.exp((m - 15) * math.log(6.4) / 27)


def mel_filters():
    edges = [mel_to_hz(m) for m in np.linspace(0, hz_to_mel(8000), BANDS + 2)]
    lines = np.fft.rfftfreq(400, 1 / 16000)
    rows = []
    for low, mid, high in zip(edges, edges[1:], edges[2:]):
        rows.append(np.maximum(0, np.minimum((lines - low) / (mid - low), (high - lines) / (high - mid))) * 2 / (high - low))
    return np.array(rows)


def mel(samples):
    padded = np.concatenate([samples, np.zeros(POSITIONS * 320 - len(samples))])
    padded = np.pad(padded, 200, mode="reflect")
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    frames = np.array([padded[i * 160:i * 160 + 400] * window for i in range(POSITIONS * 2)])
    power = np.abs(np.fft.rfft(frames)) ** 2
    logs = np.log10(np.maximum(power @ mel_filters().T, 1e-10))
    return (np.maximum(logs, logs.max() - 8) + 4) / 4


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def norm(x, weights):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-5) * weights[0] + weights[1]


def dense(x, weights):
    return x @ weights[0].T + weights[1]


def conv(x, weights, stride):
    padded = np.pad(x, ((1, 1), (0, 0)))
    return np.array([np.einsum("oik,ki->o", weights[0], padded[i:i + 3]) + weights[1] for i in range(0, len(x), stride)])


def attend(q, k, v, causal=False, times=None):
    if times is not None:
        k, v = np.repeat(k, times, axis=0), np.repeat(v, times, axis=0)
    size, outs = WIDTH // HEADS, []
    for h in range(HEADS):
        part = slice(h * size, (h + 1) * size)
        scores = q[:, part] @ k[:, part].T / math.sqrt(size)
        if causal:
            scores = np.where(np.tril(np.ones(scores.shape)) > 0, scores, -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        outs.append(e / e.sum(-1, keepdims=True) @ v[:, part])
    return np.concatenate(outs, axis=1)


def plan(sound, margin, step):
    """Places and how many positions each stands for."""
    places, times, at = list(range(min(sound + margin, POSITIONS))), [], 0
    times = [1] * len(places)
    at = len(places)
    while at < POSITIONS:
        span = min(step, POSITIONS - at)
        places.append(POSITIONS - 1 if at + span == POSITIONS else at + span // 2)
        times.append(span)
        at += span
    return places, times


def round_rows(x):
    scale = np.abs(x).max(-1, keepdims=True) / 127
    return np.round(x / scale) * scale


def quantised(x, weights):
    return round_rows(x) @ round_rows(weights[0]).T + weights[1]


weights = Weights()
decoder = {"table": weights.take(VOCABULARY, WIDTH), "places": weights.take(CONTEXT, WIDTH), "layers": []}
for _ in range(LAYERS):
    decoder["layers"].append({
        "ln1": weights.norm(), "qkv": weights.linear(WIDTH, 3 * WIDTH), "out": weights.linear(WIDTH, WIDTH),
        "ln2": weights.norm(), "query": weights.linear(WIDTH, WIDTH), "keys": weights.linear(WIDTH, 2 * WIDTH),
        "cross": weights.linear(WIDTH, WIDTH), "ln3": weights.norm(),
        "up": weights.linear(WIDTH, HIDDEN), "down": weights.linear(HIDDEN, WIDTH)})
decoder["norm"] = weights.norm()
conv1 = (weights.take(WIDTH, BANDS, 3), weights.take(WIDTH))
conv2 = (weights.take(WIDTH, WIDTH, 3), weights.take(WIDTH))
encoder = {"places": weights.take(POSITIONS, WIDTH), "layers": []}
for _ in range(LAYERS):
    encoder["layers"].append({
        "ln1": weights.norm(), "qkv": weights.linear(WIDTH, 3 * WIDTH), "out": weights.linear(WIDTH, WIDTH),
        "ln2": weights.norm(), "up": weights.linear(WIDTH, HIDDEN), "down": weights.linear(HIDDEN, WIDTH)})
encoder["norm"] = weights.norm()


def encode(features, places, times):
    x = gelu(conv(gelu(conv(features, conv1, 1)), conv2, 2)) + encoder["places"]
    x = x[places]
    for layer in encoder["layers"]:
        q, k, v = np.split(dense(norm(x, layer["ln1"]), layer["qkv"]), 3, axis=1)
        x = x + dense(attend(q, k, v, times=times), layer["out"])
        x = x + dense(gelu(dense(norm(x, layer["ln2"]), layer["up"])), layer["down"])
    return norm(x, encoder["norm"])


def decode(heard, times, tokens, dense=dense, table=decoder["table"]):
    x = table[tokens] + decoder["places"][:len(tokens)]
    for layer in decoder["layers"]:
        q, k, v = np.split(dense(norm(x, layer["ln1"]), layer["qkv"]), 3, axis=1)
        x = x + dense(attend(q, k, v, causal=True), layer["out"])
        k, v = np.split(heard @ layer["keys"][0].T + layer["keys"][1], 2, axis=1)
        x = x + dense(attend(dense(norm(x, layer["ln2"]), layer["query"]), k, v, times=times), layer["cross"])
        x = x + dense(gelu(dense(norm(x, layer["ln3"]), layer["up"])), layer["down"])
    return dense(norm(x[-1:], decoder["norm"]), (decoder["table"], 0))[0]


i = np.arange(9000)
signal = np.float32(0.3 * np.sin(2 * np.pi * 440 * i / 16000) + 0.1 * np.sin(2 * np.pi * 1234 * i / 16000))
signal[4500:] *= np.float32(0.01)
features = mel(signal.astype(float))
sound = -(-math.ceil((len(signal) + 200) / 160) // 2)
short = lambda x: [float(f"{v:.6g}") for v in np.ravel(x)]
everything = (list(range(POSITIONS)), [1] * POSITIONS)
thin = plan(sound, 2, 4)
full_rows, thin_rows = encode(features, *everything), encode(features, *thin)
print(json.dumps({
    "mel": {str(frame): short(features[frame]) for frame in (0, 20, 57)},
    "mel_silence": float(features[-1, 0]),
    "full": {str(row): short(full_rows[row]) for row in (0, 15, 33, 39)},
    "thin_places": thin[0],
    "thin": {str(row): short(thin_rows[row]) for row in (0, 15, len(thin[0]) - 1)},
    "scores": short(decode(full_rows, None, TOKENS)),
    "scores_int8": short(decode(full_rows, None, TOKENS, quantised, round_rows(decoder["table"]))),
    "scores_thin_int8": short(decode(thin_rows, thin[1], TOKENS, quantised, round_rows(decoder["table"]))),
}))
