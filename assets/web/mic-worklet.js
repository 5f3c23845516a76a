/**
 * The microphone: sound of any rate to frames of 20 ms, 16 kHz mono 16-bit.
 *
 * Each output sample is a windowed sinc over the input around its time, cut off below 8 kHz, so
 * that nothing above folds back into speech. The delay is 8 output samples: half a millisecond.
 */

/** Samples a second of the frames. */
const RATE = 16_000;
/** Samples of a frame. */
const FRAME = 320;
/** Half the kernel's width, in output samples. */
const HALF = 8;
/** Kernel values stored per output sample. */
const STEPS = 256;
/** Cut-off as a share of half the output rate: the kernel needs room to fall. */
const CUTOFF = 0.9;

/** Kernel for distances of 0 to `HALF` output samples. */
function kernel() {
  const values = new Float32Array(HALF * STEPS + 2);
  for (let i = 0; i < HALF * STEPS; i++) {
    const t = i / STEPS;
    const x = Math.PI * t * CUTOFF;
    const sinc = t === 0 ? 1 : Math.sin(x) / x;
    const window = 0.42 + 0.5 * Math.cos((Math.PI * t) / HALF) + 0.08 * Math.cos((2 * Math.PI * t) / HALF);
    values[i] = sinc * window * CUTOFF;
  }
  return values;
}

/** Converts blocks of one rate to samples at 16 kHz. */
export class Resampler {
  /** @param {number} rate Samples a second of the input. */
  constructor(rate) {
    /** Input samples per output sample. */
    this.ratio = rate / RATE;
    this.kernel = kernel();
    /** Input samples per sample of the slower of both: some headsets give 8 kHz. */
    this.scale = Math.max(1, this.ratio);
    const reach = Math.ceil(HALF * this.scale);
    /** Input not yet left behind; begins with silence, so that the first sample has a past. */
    this.held = new Float32Array(2 * reach + 8192);
    this.length = reach;
    /** Centre of the next output sample within `held`. */
    this.centre = reach;
    this.reach = reach;
  }

  /**
   * @param {Float32Array} block At most 4,096 samples.
   * @param {(sample: number) => void} out
   */
  push(block, out) {
    this.held.set(block, this.length);
    this.length += block.length;
    while (this.centre + this.reach < this.length) {
      out(this.at(this.centre));
      this.centre += this.ratio;
    }
    const done = Math.floor(this.centre) - this.reach;
    if (done > 4096) {
      this.held.copyWithin(0, done, this.length);
      this.length -= done;
      this.centre -= done;
    }
  }

  /** @param {number} centre */
  at(centre) {
    const from = Math.ceil(centre - this.reach);
    const to = Math.floor(centre + this.reach);
    let sum = 0;
    for (let i = from; i <= to; i++) {
      const distance = (Math.abs(i - centre) / this.scale) * STEPS;
      const low = Math.floor(distance);
      const a = this.kernel[low] ?? 0;
      const b = this.kernel[low + 1] ?? 0;
      sum += (this.held[i] ?? 0) * (a + (b - a) * (distance - low));
    }
    return sum / this.scale;
  }
}

class Microphone extends AudioWorkletProcessor {
  constructor() {
    super();
    this.resampler = new Resampler(sampleRate);
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
    this.energy = 0;
    /** @param {number} sample */
    this.take = (sample) => {
      const bounded = Math.max(-1, Math.min(1, sample));
      this.frame[this.filled++] = Math.round(bounded * 32_767);
      this.energy += bounded * bounded;
      if (this.filled === FRAME) this.send();
    };
  }

  /** Every 20 ms: a frame and its level. */
  send() {
    const frame = this.frame;
    this.port.postMessage({ frame: frame.buffer, rms: Math.sqrt(this.energy / FRAME) }, [frame.buffer]);
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
    this.energy = 0;
  }

  /** @param {Float32Array[][]} inputs */
  process(inputs) {
    const block = inputs[0]?.[0];
    if (block) this.resampler.push(block, this.take);
    return true;
  }
}

registerProcessor("microphone", Microphone);
