/**
 * When the microphone reaches the table: while the button or the space bar is held, from one click
 * to the next, or always, if the player leaves it open.
 *
 * `wanted` is what the player wants now, `isOn` what the program was told. Opening the microphone
 * takes a while (the browser may ask first); whoever let go meanwhile says nothing.
 */

/** @import { Microphone } from "./mic.js" */

/** Milliseconds from which a press counts as held; shorter ones switch. */
const HELD_MS = 350;

/** Milliseconds within which a click belongs to the release of a pointer. */
const CLICK_MS = 500;

/** @typedef {"off" | "opening" | "on"} Talking */

export class Talk {
  /**
   * @param {object} parts
   * @param {HTMLButtonElement} parts.button
   * @param {Microphone} parts.mic
   * @param {() => {device: string, processing: boolean}} parts.settings
   * @param {object} on
   * @param {(isOn: boolean) => void} on.talk
   * @param {(talking: Talking) => void} on.change
   * @param {(error: unknown) => void} on.problem
   */
  constructor({ button, mic, settings }, on) {
    this.button = button;
    this.mic = mic;
    this.settings = settings;
    this.on = on;
    this.wanted = false;
    this.isOn = false;
    this.isOpening = false;
    /** How it is held now. @type {"pointer" | "key" | null} */
    this.held = null;
    /** The last press, and what was wanted before it. */
    this.pressed = { at: 0, wasWanted: false };
    this.releasedAt = -Infinity;
    this.connectPointer();
    this.connectKeys();
    // A release outside the window is never seen.
    addEventListener("blur", () => this.release());
    document.addEventListener("visibilitychange", () => document.hidden && this.release());
  }

  connectPointer() {
    const { button } = this;
    button.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      button.setPointerCapture(event.pointerId);
      this.held = "pointer";
      this.pressed = { at: performance.now(), wasWanted: this.wanted };
      this.want(true);
    });
    button.addEventListener("pointerup", () => {
      if (this.held !== "pointer") return;
      this.held = null;
      this.releasedAt = performance.now();
      const isClick = this.releasedAt - this.pressed.at < HELD_MS;
      if (!isClick || this.pressed.wasWanted) this.want(false);
    });
    button.addEventListener("pointercancel", () => this.release());
    // A long touch would open a menu.
    button.addEventListener("contextmenu", (event) => event.preventDefault());
    // Presses by pointer are handled above; these are Enter, and programs that assist.
    button.addEventListener("click", (event) => {
      if (event.timeStamp - this.releasedAt > CLICK_MS) this.want(!this.wanted);
    });
  }

  connectKeys() {
    document.addEventListener("keydown", (event) => {
      if (event.code !== "Space" || event.ctrlKey || event.altKey || event.metaKey) return;
      if (!this.takes(event.target)) return;
      event.preventDefault();
      if (event.repeat || this.held) return;
      this.held = "key";
      this.pressed = { at: performance.now(), wasWanted: this.wanted };
      this.want(true);
    });
    document.addEventListener("keyup", (event) => {
      if (event.code !== "Space" || this.held !== "key") return;
      event.preventDefault();
      this.release();
    });
  }

  /**
   * The space bar types in fields and presses other buttons.
   * @param {EventTarget | null} target
   */
  takes(target) {
    if (!(target instanceof Element) || target === this.button) return true;
    return !target.closest("input, textarea, select, button, summary, a, dialog, [contenteditable]");
  }

  release() {
    if (!this.held) return;
    // A microphone that was on before the key stays on.
    const stays = this.held === "key" && this.pressed.wasWanted;
    this.held = null;
    this.want(stays);
  }

  /** @param {boolean} wanted */
  want(wanted) {
    this.wanted = wanted;
    void this.follow();
  }

  /** Tells a new connection what was told the last one. */
  repeat() {
    if (this.isOn) this.on.talk(true);
  }

  /** Opens the microphone again, as after a change of the settings. */
  reopen() {
    const wasWanted = this.wanted;
    this.want(false);
    this.mic.close();
    if (wasWanted) this.want(true);
  }

  async follow() {
    if (this.isOpening) return;
    if (this.wanted && !this.mic.isOpen) {
      this.isOpening = true;
      this.on.change("opening");
      try {
        await this.mic.open(this.settings());
      } catch (error) {
        this.wanted = false;
        this.held = null;
        this.on.problem(error);
      }
      this.isOpening = false;
    }
    this.mic.enable(this.wanted);
    if (this.isOn !== this.wanted) {
      this.isOn = this.wanted;
      this.on.talk(this.isOn);
    }
    this.on.change(this.isOn ? "on" : "off");
  }
}
