/** What to do when the microphone is missing: each cause with its remedy. */

import { MicError } from "./mic.js";
import { t } from "./texts.js";

/** @import { MicProblem } from "./mic.js" */

/**
 * The problem and its remedy, in words.
 * @param {MicProblem} problem
 * @param {string} [detail] What the browser says.
 */
export function remedy(problem, detail = "") {
  const port = location.port || "4100";
  return { problem: t(`mic_${problem}`), fix: t(`mic_${problem}_fix`, { port, detail }) };
}

export class Help {
  /** @param {{box: HTMLElement, title: HTMLElement, text: HTMLElement}} parts */
  constructor(parts) {
    this.parts = parts;
    // Told at once: on such a page nothing can be heard either.
    if (!globalThis.isSecureContext) this.show("insecure");
  }

  /**
   * @param {MicProblem} problem
   * @param {string} [detail]
   */
  show(problem, detail) {
    const { box, title, text } = this.parts;
    const words = remedy(problem, detail);
    title.textContent = words.problem;
    text.textContent = words.fix;
    box.dataset["problem"] = problem;
    box.hidden = false;
  }

  /** @param {unknown} error */
  showError(error) {
    if (error instanceof MicError) this.show(error.problem, error.message);
    else this.show("failed", error instanceof Error ? error.message : String(error));
  }

  hide() {
    this.parts.box.hidden = true;
    delete this.parts.box.dataset["problem"];
  }
}
