/** The microphone: frames of 20 ms from the browser to whoever listens. */

/** @import { Audio } from "./audio.js" */

/** @typedef {"insecure" | "denied" | "missing" | "busy" | "failed"} MicProblem */

/** Loudest level that may still be the NPC's own voice, with an open microphone. */
const ECHO_LEVEL = 0.04;
/** Frames above it that open the gate: 60 ms. */
const ONSET = 3;
/** Frames that the gate stays open after the last loud one: 600 ms. */
const HOLD = 30;

/** Why there is no microphone. */
export class MicError extends Error {
  /**
   * @param {MicProblem} problem
   * @param {string} [detail]
   */
  constructor(problem, detail = "") {
    super(detail || problem);
    this.problem = problem;
  }
}

/**
 * The problem behind an error of `getUserMedia`.
 * @param {unknown} error
 * @returns {MicProblem}
 */
export function problemOf(error) {
  const name = error instanceof Error || error instanceof DOMException ? error.name : "";
  switch (name) {
    case "NotAllowedError":
    case "SecurityError":
      return "denied";
    case "NotFoundError":
    case "OverconstrainedError":
      return "missing";
    case "NotReadableError":
    case "AbortError":
      return "busy";
    default:
      return "failed";
  }
}

/**
 * Lets only clearly loud frames pass while an NPC speaks, so that an open microphone does not hear
 * the NPC. Browsers' echo cancellation misses what a page plays itself.
 */
export class Gate {
  constructor() {
    this.loud = 0;
    this.open = 0;
  }

  /**
   * True if a frame of this level passes.
   * @param {number} rms
   * @param {boolean} isNpcSpeaking
   */
  passes(rms, isNpcSpeaking) {
    this.loud = rms > ECHO_LEVEL ? this.loud + 1 : 0;
    if (this.loud >= ONSET || (!isNpcSpeaking && rms > ECHO_LEVEL)) this.open = HOLD;
    else if (this.open > 0) this.open -= 1;
    return !isNpcSpeaking || this.open > 0;
  }
}

export class Microphone {
  /**
   * @param {Audio} audio
   * @param {(frame: ArrayBuffer, rms: number) => void} onFrame
   * @param {() => void} onEnd Called when the device was taken away.
   */
  constructor(audio, onFrame, onEnd) {
    this.audio = audio;
    this.onFrame = onFrame;
    this.onEnd = onEnd;
    /** @type {MediaStream | null} */
    this.stream = null;
    /** @type {AudioNode[]} */
    this.nodes = [];
  }

  get isOpen() {
    return this.stream?.getAudioTracks()[0]?.readyState === "live";
  }

  /**
   * Opens it; the browser may ask the user first.
   * @param {{device: string, processing: boolean}} wanted
   * @throws {MicError}
   */
  async open({ device, processing }) {
    if (this.isOpen) return;
    if (!globalThis.isSecureContext || !navigator.mediaDevices) throw new MicError("insecure");
    const context = await this.audio.open();
    if (!context) throw new MicError("insecure");
    this.close();
    try {
      this.stream = await navigator.mediaDevices.getUserMedia({
        audio: {
          channelCount: 1,
          echoCancellation: processing,
          noiseSuppression: processing,
          autoGainControl: processing,
          ...(device ? { deviceId: { ideal: device } } : {}),
        },
      });
    } catch (error) {
      throw new MicError(problemOf(error), error instanceof Error ? error.message : String(error));
    }
    // Not called for our own `stop`.
    for (const track of this.stream.getTracks()) track.onended = this.onEnd;
    // Whoever allows a microphone allows sound.
    if (context.state !== "running") context.resume().catch(() => {});
    const source = context.createMediaStreamSource(this.stream);
    // A microphone of two channels may have its voice in either.
    const node = new AudioWorkletNode(context, "microphone", {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: "explicit",
    });
    node.port.onmessage = ({ data }) => this.onFrame(data.frame, data.rms);
    source.connect(node);
    this.nodes = [source, node];
  }

  /**
   * Switched off, it hears silence but answers at once.
   * @param {boolean} isOn
   */
  enable(isOn) {
    for (const track of this.stream?.getAudioTracks() ?? []) track.enabled = isOn;
  }

  close() {
    for (const node of this.nodes) node.disconnect();
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    this.nodes = [];
    this.stream = null;
  }

  /** Microphones of this machine; their names are known once one was allowed. */
  static async devices() {
    const all = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
    return all.filter(({ kind, deviceId, label }) => kind === "audioinput" && deviceId && label);
  }
}
