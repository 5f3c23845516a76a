/**
 * The loudspeaker: 48 kHz sound of the program in a ring buffer, played at the device's own rate.
 *
 * The buffer knows which samples are whose turn's, and every 100 ms reports how many of each were
 * played; at the end of a turn's sound and after a flush it reports at once. Sound already in the
 * device (`outputLatency`) counts as played.
 */

/** Samples a second of the program's sound. */
const RATE = 48_000;
/** Room for 10.9 s; the program is at most 0.3 s ahead. */
const CAPACITY = 1 << 19;
/** Blocks of 128 samples between reports: about 100 ms. */
const REPORT_BLOCKS = 37;
/** How fast the last sample dies away when sound runs out: without it, it clicks. */
const FADE = 0.97;
/** Samples of a stopped turn that still fade out: 5 ms. They do not count as played. */
const TAIL = 240;

/** Sound in order, by turn. Positions count samples since the start and never wrap. */
export class Ring {
  constructor() {
    this.samples = new Float32Array(CAPACITY);
    this.read = 0;
    this.written = 0;
    /** Played samples up to here are counted. */
    this.counted = 0;
    /** @type {{turn: number | null, end: number}[]} */
    this.segments = [];
    /** Played samples by turn that were not reported yet. @type {Map<number, number>} */
    this.played = new Map();
  }

  /**
   * Appends sound; what has no room is dropped.
   * @param {number | null} turn
   * @param {Int16Array} sound
   */
  push(turn, sound) {
    // A few samples are kept behind the reader, for interpolation.
    const room = CAPACITY - 4 - (this.written - Math.floor(this.read));
    const length = Math.min(sound.length, Math.max(0, room));
    for (let i = 0; i < length; i++) {
      this.samples[(this.written + i) & (CAPACITY - 1)] = (sound[i] ?? 0) / 32_768;
    }
    this.written += length;
    const last = this.segments.at(-1);
    if (last && last.turn === turn) last.end = this.written;
    else this.segments.push({ turn, end: this.written });
  }

  /**
   * Drops what was not played of a turn, and returns the beginning of it, fading out, if the turn
   * was playing.
   * @param {number} turn
   */
  flush(turn) {
    this.settle();
    const playing = this.segments[0];
    const isPlaying = playing !== undefined && playing.turn === turn;
    const left = isPlaying ? Math.min(TAIL, playing.end - this.counted) : 0;
    const tail = Float32Array.from(
      { length: left },
      (_, i) => this.sample(this.counted + i) * (1 - i / left),
    );
    let from = this.counted;
    let to = from;
    /** @type {{turn: number | null, end: number}[]} */
    const kept = [];
    for (const segment of this.segments) {
      const length = segment.end - from;
      if (segment.turn !== turn) {
        this.move(from, to, length);
        to += length;
        kept.push({ turn: segment.turn, end: to });
      }
      from = segment.end;
    }
    this.segments = kept;
    this.written = to;
    this.read = Math.min(this.read, to);
    return tail;
  }

  /** Drops everything, and what was played. */
  clear() {
    this.segments = [];
    this.written = Math.floor(this.read);
    this.read = this.written;
    this.counted = this.written;
    this.played.clear();
  }

  /**
   * Moves sound towards the start.
   * @param {number} from
   * @param {number} to
   * @param {number} length
   */
  move(from, to, length) {
    if (from === to) return;
    for (let i = 0; i < length; i++) {
      this.samples[(to + i) & (CAPACITY - 1)] = this.samples[(from + i) & (CAPACITY - 1)] ?? 0;
    }
  }

  /**
   * The sample at a place; silence outside what is held.
   * @param {number} at
   */
  sample(at) {
    return at < 0 || at >= this.written ? 0 : (this.samples[at & (CAPACITY - 1)] ?? 0);
  }

  /**
   * The next sample `step` further, by a cubic through its four neighbours; null: no sound left.
   * @param {number} step
   */
  next(step) {
    if (this.read >= this.written) return null;
    const at = Math.floor(this.read);
    const t = this.read - at;
    const b = this.sample(at);
    let value = b;
    if (t > 0) {
      const a = this.sample(at - 1);
      const c = this.sample(at + 1);
      const d = this.sample(at + 2);
      value = b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
    }
    this.read = Math.min(this.read + step, this.written);
    return value;
  }

  /** Counts what was played since the last call to its turns. */
  settle() {
    const to = Math.floor(this.read);
    while (this.counted < to) {
      const segment = this.segments[0];
      if (!segment) break;
      const end = Math.min(to, segment.end);
      if (segment.turn !== null && end > this.counted) {
        const before = this.played.get(segment.turn) ?? 0;
        this.played.set(segment.turn, before + end - this.counted);
      }
      this.counted = Math.max(this.counted, end);
      if (this.counted >= segment.end) this.segments.shift();
    }
    this.counted = to;
  }

  /** Samples played of each turn since the last call. */
  report() {
    this.settle();
    const turns = [...this.played].map(([turn, samples]) => ({ turn, samples }));
    this.played.clear();
    return turns;
  }
}

class Loudspeaker extends AudioWorkletProcessor {
  constructor() {
    super();
    this.ring = new Ring();
    this.step = RATE / sampleRate;
    this.blocks = 0;
    this.energy = 0;
    this.counted = 0;
    this.last = 0;
    /** Of a stopped turn. */
    this.tail = new Float32Array();
    /** How much of the tail was played, in its samples. */
    this.tailAt = 0;
    this.wasPlaying = false;
    this.port.onmessage = ({ data }) => {
      if (data.clear) {
        this.ring.clear();
      } else if (data.flush !== undefined) {
        const tail = this.ring.flush(data.flush);
        if (tail.length > 0) {
          [this.tail, this.tailAt] = [tail, 0];
          // The tail dies away in its place.
          this.last = 0;
        }
        this.post(data.flush);
      } else {
        this.ring.push(data.turn, new Int16Array(data.sound));
      }
    };
  }

  /** @param {number} [flushed] */
  post(flushed) {
    const rms = this.counted ? Math.sqrt(this.energy / this.counted) : 0;
    this.port.postMessage({ played: this.ring.report(), rms, flushed });
    this.blocks = 0;
    this.energy = 0;
    this.counted = 0;
  }

  /**
   * @param {Float32Array[][]} _inputs
   * @param {Float32Array[][]} outputs
   */
  process(_inputs, outputs) {
    const out = outputs[0]?.[0];
    if (!out) return true;
    let isPlaying = false;
    for (let i = 0; i < out.length; i++) {
      const value = this.ring.next(this.step);
      isPlaying = value !== null;
      this.last = value ?? this.last * FADE;
      const sample = this.last + (this.tail[Math.floor(this.tailAt)] ?? 0);
      this.tailAt += this.step;
      out[i] = sample;
      this.energy += sample * sample;
    }
    this.counted += out.length;
    this.blocks += 1;
    const hasEnded = this.wasPlaying && !isPlaying;
    this.wasPlaying = isPlaying;
    if (hasEnded || this.blocks >= REPORT_BLOCKS) this.post();
    return true;
  }
}

registerProcessor("loudspeaker", Loudspeaker);
