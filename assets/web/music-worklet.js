/**
 * The table's music: 48 kHz stereo in a short buffer, played at the device's own rate.
 *
 * It plays 200 ms after it has come, so that a hold-up of the network is not heard; if it runs dry,
 * it begins so again. Music that comes too fast is dropped down to as much. Wherever sound does not
 * go on as it was (begun, dropped, dry), the last value dies away over what follows: a step clicks.
 */

/** Samples a second of the program's music, in each channel. */
const RATE = 48_000;
/** Samples before music begins: 200 ms. */
const START = 9_600;
/** Most samples that wait: 400 ms. */
const MOST = 19_200;
/** Room for 0.7 s. */
const CAPACITY = 1 << 15;
/** How fast a step dies away: in 10 ms to a hundredth. */
const FADE = 0.99;
/** A step this small is over. */
const SILENT = 1e-6;

/** Stereo sound in order. Positions count samples of a channel since the start and never wrap. */
export class MusicBuffer {
  constructor() {
    this.samples = [new Float32Array(CAPACITY), new Float32Array(CAPACITY)];
    this.read = 0;
    this.written = 0;
    this.isPlaying = false;
    /** Samples for which the first sound has waited. */
    this.waited = 0;
    /** The next sample does not continue the last one. */
    this.hasJumped = false;
    /** Last values by channel. */
    this.last = [0, 0];
    /** What is left of steps, by channel. */
    this.steps = [0, 0];
  }

  /** @param {Int16Array} sound Left and right in turn. */
  push(sound) {
    for (let i = 0; i + 1 < sound.length; i += 2) {
      this.samples.forEach((samples, channel) => {
        samples[this.written & (CAPACITY - 1)] = (sound[i + channel] ?? 0) / 32_768;
      });
      this.written += 1;
    }
    if (this.written - this.read <= MOST) return;
    this.read = this.written - START;
    this.hasJumped = true;
  }

  /** Drops everything. */
  clear() {
    this.read = this.written;
    this.waited = 0;
  }

  /**
   * Fills the channels with the next sound; silence without any.
   * @param {Float32Array[]} channels
   * @param {number} step Samples of the buffer a sample of the device.
   */
  fill(channels, step) {
    const length = channels[0]?.length ?? 0;
    for (let i = 0; i < length; i++) {
      this.begin(step);
      channels.forEach((out, channel) => {
        out[i] = this.value(channel);
      });
      this.hasJumped = false;
      if (this.isPlaying) this.read = Math.min(this.read + step, this.written);
    }
  }

  /**
   * Begins once enough has come or waited, and ends when nothing is left.
   * @param {number} step
   */
  begin(step) {
    const left = this.written - this.read;
    if (!this.isPlaying && left > 0) this.waited += step;
    const begins = !this.isPlaying && (left >= START || this.waited >= START);
    const ends = this.isPlaying && left <= 0;
    if (!begins && !ends) return;
    this.isPlaying = begins;
    this.hasJumped = true;
    this.waited = 0;
  }

  /**
   * The value of a channel now, without a step.
   * @param {number} channel
   */
  value(channel) {
    const plain = this.isPlaying ? this.sample(channel) : 0;
    let rest = this.steps[channel] ?? 0;
    if (this.hasJumped) rest = (this.last[channel] ?? 0) - plain;
    const value = plain + rest;
    this.last[channel] = value;
    this.steps[channel] = Math.abs(rest) < SILENT ? 0 : rest * FADE;
    return value;
  }

  /**
   * The sound of a channel where it is read, by a cubic through its four neighbours.
   * @param {number} channel
   */
  sample(channel) {
    const samples = this.samples[channel] ?? new Float32Array();
    const at = Math.floor(this.read);
    // After the last sample comes nothing else yet.
    const near = (/** @type {number} */ by) =>
      samples[Math.min(at + by, this.written - 1) & (CAPACITY - 1)] ?? 0;
    const t = this.read - at;
    const b = near(0);
    if (t === 0) return b;
    const [a, c, d] = [near(-1), near(1), near(2)];
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
  }
}

class MusicLoudspeaker extends AudioWorkletProcessor {
  constructor() {
    super();
    this.buffer = new MusicBuffer();
    this.step = RATE / sampleRate;
    this.port.onmessage = ({ data }) => {
      if (data.clear) this.buffer.clear();
      else this.buffer.push(new Int16Array(data.sound));
    };
  }

  /**
   * @param {Float32Array[][]} _inputs
   * @param {Float32Array[][]} outputs
   */
  process(_inputs, outputs) {
    this.buffer.fill(outputs[0] ?? [], this.step);
    return true;
  }
}

registerProcessor("music", MusicLoudspeaker);
