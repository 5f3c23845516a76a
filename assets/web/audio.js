/** The browser's sound system, opened by the first click or key: browsers allow it no earlier. */

/** One audio context for microphone and loudspeaker. */
export class Audio {
  constructor() {
    /** @type {AudioContext | null} */
    this.context = null;
    /** @type {Promise<AudioContext | null> | null} */
    this.opening = null;
    /** @type {((context: AudioContext) => void)[]} */
    this.listeners = [];
    /** Called when sound begins or ends to run. @type {(() => void)[]} */
    this.stateListeners = [];
  }

  /** True while sound plays and the microphone can be read. */
  get isRunning() {
    return this.context?.state === "running";
  }

  /**
   * Called once the worklets are loaded.
   * @param {(context: AudioContext) => void} listener
   */
  onOpen(listener) {
    this.listeners.push(listener);
  }

  /**
   * Called when sound begins to run, and when it ends, as while a computer sleeps.
   * @param {() => void} listener
   */
  onState(listener) {
    this.stateListeners.push(listener);
  }

  /**
   * Opens or resumes it; call it from a click or key. Null without worklets, as on a page that
   * came without HTTPS from another machine.
   * @returns {Promise<AudioContext | null>}
   */
  async open() {
    this.opening ??= this.create().catch((error) => {
      // Another click may succeed.
      this.opening = null;
      throw error;
    });
    const context = await this.opening;
    // Not awaited: without a click it would wait for one.
    if (context && context.state !== "running") context.resume().catch(() => {});
    return context;
  }

  async create() {
    if (typeof AudioWorkletNode === "undefined" || !globalThis.isSecureContext) return null;
    // The device's own rate: not every browser reads a microphone at another. The worklets convert.
    const context = new AudioContext({ latencyHint: "interactive" });
    await Promise.all(
      ["mic-worklet.js", "music-worklet.js", "speaker-worklet.js"].map((name) =>
        context.audioWorklet.addModule(new URL(name, import.meta.url)),
      ),
    );
    context.onstatechange = () => {
      for (const listener of this.stateListeners) listener();
    };
    this.context = context;
    for (const listener of this.listeners) listener(context);
    return context;
  }
}
