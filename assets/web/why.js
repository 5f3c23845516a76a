/** "Why did it say that?": the prompt's parts, recalled lines and calls of one answer. */

import { call } from "./details.js";
import { el, shown } from "./dom.js";
import { t } from "./texts.js";

/** @import { State } from "./store.js" */
/** @import { Why } from "./wire.js" */

export class WhyDialog {
  /**
   * @param {object} parts
   * @param {HTMLDialogElement} parts.dialog
   * @param {HTMLElement} parts.title
   * @param {HTMLElement} parts.body
   * @param {(turn: number) => boolean} ask Has the program send a turn's explanation; false without
   *   a connection.
   */
  constructor({ dialog, title, body }, ask) {
    this.dialog = dialog;
    this.title = title;
    this.body = body;
    this.ask = ask;
    /** @type {number | null} */
    this.turn = null;
    /** @type {Why | null} */
    this.drawn = null;
    /** Last item of the conversation when it was opened. */
    this.before = 0;
    /** X-cards and deletions known so far. */
    this.removals = 0;
  }

  /**
   * @param {number} turn
   * @param {string} npc
   */
  open(turn, npc) {
    this.turn = turn;
    this.drawn = null;
    this.title.textContent = t("whyTitle", { npc });
    this.body.replaceChildren(el("p", { role: "status" }, t("whyWaiting")));
    this.dialog.showModal();
    this.dialog.scrollTop = 0;
    if (!this.ask(turn)) this.refuse(t("lost"));
  }

  /** @param {string} text */
  refuse(text) {
    this.body.replaceChildren(el("p", { class: "wrong", role: "status" }, text));
  }

  /** @param {State} state */
  show({ why, items, removals }) {
    if (removals !== this.removals) {
      // What is shown may be what was taken back.
      this.removals = removals;
      this.body.replaceChildren();
      this.dialog.close();
    }
    const last = items.at(-1);
    if (!this.dialog.open) this.before = last?.key ?? 0;
    if (!this.dialog.open || this.drawn) return;
    // The program refuses what it no longer knows by an answer, which the dialog would cover.
    if (last?.kind === "answer" && !last.ok && last.key > this.before) {
      this.refuse(last.text);
    }
    if (why?.turn !== this.turn) return;
    this.drawn = why;
    this.body.replaceChildren(
      ...why.parts.map(({ name, text }) =>
        el("section", {}, el("h3", {}, name), el("pre", { tabindex: "0", "aria-label": name }, text)),
      ),
      list(t("whyRecalled"), why.recalled.map((line) => shown(line))),
      list(t("whyTools"), why.tools.map(call)),
    );
  }
}

/**
 * @param {string} name
 * @param {(Node | string)[]} values
 */
function list(name, values) {
  const rows = values.map((value) => el("li", {}, value));
  return el(
    "section",
    {},
    el("h3", {}, name),
    rows.length ? el("ul", {}, ...rows) : el("p", { class: "quiet" }, t("whyNothing")),
  );
}
