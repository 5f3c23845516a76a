/**
 * The NPCs' sound, and how much of each turn was played.
 *
 * Without a running audio context (no click yet, no worklets, a device that went away) the sound is
 * not audible, and a clock counts it as played in real time: the program waits for a page that plays
 * too little. In a hidden page such sound counts at once, since browsers slow its clock down.
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
    /** Samples by turn that the worklet has and did not report. @type {Map<number | null, number>} */
    this.queued = new Map();
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
    audio.onState(() => this.leaveToClock());
    globalThis.document?.addEventListener("visibilitychange", () => this.tick());
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
      for (const { turn, samples } of data.played) {
        if (this.take(turn, samples)) this.count(turn, samples);
      }
      this.sum.peak = Math.max(this.sum.peak, data.rms);
      this.onLevel(data.rms);
      if (data.flushed === undefined) return;
      this.queued.delete(data.flushed);
      this.acknowledge(data.flushed);
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
    // A step would click.
    this.gain?.gain.setTargetAtTime(volume, this.gain.context.currentTime, 0.02);
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
      this.queued.set(this.turn, (this.queued.get(this.turn) ?? 0) + samples);
      this.node.port.postMessage({ turn: this.turn, sound: sound.slice(0, samples * 2) });
      return;
    }
    this.wait(this.turn, samples);
  }

  /**
   * Leaves sound to the clock.
   * @param {number | null} turn
   * @param {number} samples
   */
  wait(turn, samples) {
    const last = this.unheard.at(-1);
    if (last?.turn === turn) last.samples += samples;
    else this.unheard.push({ turn, samples });
    if (this.clock === null) {
      this.clockAt = performance.now();
      this.clock = setInterval(() => this.tick(), TICK_MS);
    }
    if (globalThis.document?.hidden) this.tick();
  }

  /** What the worklet still has when sound stops to run would play late, or never. */
  leaveToClock() {
    if (this.audio.isRunning || this.queued.size === 0) return;
    this.node?.port.postMessage({ clear: true });
    const left = [...this.queued];
    this.queued.clear();
    for (const [turn, samples] of left) this.wait(turn, samples);
  }

  /**
   * Takes reported samples from those that the worklet has; false if it has none of the turn, as
   * after a new connection.
   * @param {number | null} turn
   * @param {number} samples
   */
  take(turn, samples) {
    const left = (this.queued.get(turn) ?? 0) - samples;
    if (left > 0) this.queued.set(turn, left);
    else this.queued.delete(turn);
    return left > -samples;
  }

  /**
   * Stops a turn at once, and reports what was played of it.
   * @param {number} turn
   */
  flush(turn) {
    this.unheard = this.unheard.filter((part) => part.turn !== turn);
    if (!this.audio.isRunning) this.queued.delete(turn);
    if (this.node) this.node.port.postMessage({ flush: turn });
    if (!this.audio.isRunning) this.acknowledge(turn);
  }

  /** Forgets all turns, after a new connection: the program may count from 1 again. */
  reset() {
    this.node?.port.postMessage({ clear: true });
    this.unheard = [];
    this.queued.clear();
    this.played.clear();
    this.turn = null;
  }

  /** Counts what the clock has played since the last time. */
  tick() {
    const now = performance.now();
    const isHidden = globalThis.document?.hidden ?? false;
    let due = isHidden ? Infinity : Math.round(((now - this.clockAt) * DOWN_RATE) / 1000);
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
