/**
 * The table's music, beside the NPCs' speech: louder and softer with the table's volume alone.
 *
 * Nothing of it is acknowledged. While the browser plays no sound it is lost: it goes on without
 * listeners, as in a voice channel.
 */

/** @import { Audio } from "./audio.js" */

export class Music {
  /** @param {Audio} audio */
  constructor(audio) {
    this.audio = audio;
    /** Since the first music: most pages play none. @type {AudioWorkletNode | null} */
    this.node = null;
    /** True while music comes that no one hears. */
    this.isUnheard = false;
    /** Messages that were played. */
    this.frames = 0;
    // What the worklet still has would play late.
    audio.onState(() => {
      if (!audio.isRunning) this.clear();
    });
  }

  /** @param {ArrayBuffer} sound 48 kHz stereo 16-bit */
  push(sound) {
    const { context, isRunning } = this.audio;
    this.isUnheard = !context || !isRunning;
    if (!context || !isRunning) return;
    this.node ??= connect(context);
    this.node.port.postMessage({ sound }, [sound]);
    this.frames += 1;
  }

  /** Drops what was not played, after a new connection too. */
  clear() {
    this.isUnheard = false;
    this.node?.port.postMessage({ clear: true });
  }
}

/** @param {AudioContext} context */
function connect(context) {
  const node = new AudioWorkletNode(context, "music", {
    numberOfInputs: 0,
    outputChannelCount: [2],
  });
  node.connect(context.destination);
  return node;
}
