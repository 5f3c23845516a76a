/**
 * The NPCs' sound, and how much of each turn was played.
 *
 * Without a running audio context (no click yet, or no worklets) the sound is not audible, and a
 * clock counts it as played in real time: the program waits for a page that plays too little.
 */

import { DOWN_RATE } from "./wire.js";

/** @import { Audio } from "./audio.js" */

/** Milliseconds between the clock's reports. */
const TICK_MS = 100;

export class Speaker {
  /**
   * @param {Audio} audio
   * @param {(turn: number, samples: number) => void} onPlayed Samples of the turn played so far.
   * @param {(rms: number) => void} onLevel
   */
  constructor(audio, onPlayed, onLevel) {
    this.audio = audio;
    this.onPlayed = onPlayed;
    this.onLevel = onLevel;
    /** Whose the next frames are. @type {number | null} */
    this.turn = null;
    /** Samples played by turn. @type {Map<number, number>} */
    this.played = new Map();
    /** @type {AudioWorkletNode | null} */
    this.node = null;
    /** @type {GainNode | null} */
    this.gain = null;
    this.volume = 1;
    /** Sound that the clock plays. @type {{turn: number | null, samples: number}[]} */
    this.unheard = [];
    /** @type {ReturnType<typeof setInterval> | null} */
    this.clock = null;
    this.clockAt = 0;
    this.sum = { samples: 0, peak: 0 };
    audio.onOpen((context) => this.connect(context));
  }

  /** @param {AudioContext} context */
  connect(context) {
    const node = new AudioWorkletNode(context, "loudspeaker", {
      numberOfInputs: 0,
      outputChannelCount: [1],
    });
    const gain = context.createGain();
    gain.gain.value = this.volume;
    node.connect(gain).connect(context.destination);
    node.port.onmessage = ({ data }) => {
      for (const { turn, samples } of data.played) this.count(turn, samples);
      this.sum.peak = Math.max(this.sum.peak, data.rms);
      this.onLevel(data.rms);
      if (data.flushed !== undefined) this.acknowledge(data.flushed);
    };
    this.node = node;
    this.gain = gain;
  }

  /** True while sound comes that no one hears. */
  get hasUnheard() {
    return this.unheard.length > 0;
  }

  /** @param {number} volume 0 to 1 */
  setVolume(volume) {
    this.volume = volume;
    if (this.gain) this.gain.gain.value = volume;
  }

  /**
   * The next frames are this turn's.
   * @param {number} turn
   */
  begin(turn) {
    this.turn = turn;
  }

  /** @param {ArrayBuffer} sound 48 kHz mono 16-bit */
  push(sound) {
    const samples = sound.byteLength >> 1;
    if (this.node && this.audio.isRunning) {
      this.node.port.postMessage({ turn: this.turn, sound: sound.slice(0, samples * 2) });
      return;
    }
    this.unheard.push({ turn: this.turn, samples });
    if (this.clock === null) {
      this.clockAt = performance.now();
      this.clock = setInterval(() => this.tick(), TICK_MS);
    }
  }

  /**
   * Stops a turn at once, and reports what was played of it.
   * @param {number} turn
   */
  flush(turn) {
    this.unheard = this.unheard.filter((part) => part.turn !== turn);
    if (this.node) this.node.port.postMessage({ flush: turn });
    if (!this.audio.isRunning) this.acknowledge(turn);
  }

  /** Forgets all turns, after a new connection: the program may count from 1 again. */
  reset() {
    this.node?.port.postMessage({ clear: true });
    this.unheard = [];
    this.played.clear();
    this.turn = null;
  }

  tick() {
    const now = performance.now();
    let due = Math.round(((now - this.clockAt) * DOWN_RATE) / 1000);
    this.clockAt = now;
    while (due > 0 && this.unheard[0]) {
      const part = this.unheard[0];
      const samples = Math.min(due, part.samples);
      if (part.turn !== null) this.count(part.turn, samples);
      part.samples -= samples;
      due -= samples;
      if (part.samples === 0) this.unheard.shift();
    }
    if (this.unheard.length === 0 && this.clock !== null) {
      clearInterval(this.clock);
      this.clock = null;
    }
  }

  /**
   * @param {number} turn
   * @param {number} samples Samples played since the last call.
   */
  count(turn, samples) {
    this.sum.samples += samples;
    this.played.set(turn, (this.played.get(turn) ?? 0) + samples);
    this.acknowledge(turn);
    // Turns are few at a time; old ones are never asked for again.
    const oldest = this.played.keys().next();
    if (this.played.size > 16 && !oldest.done) this.played.delete(oldest.value);
  }

  /** @param {number} turn */
  acknowledge(turn) {
    this.onPlayed(turn, this.played.get(turn) ?? 0);
  }
}
