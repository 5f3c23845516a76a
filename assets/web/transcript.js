/** The conversation: what was said, answered and reported, in order, updated in place. */

import { details } from "./details.js";
import { button, el, setText } from "./dom.js";
import { isText, t } from "./texts.js";
import { turnBar } from "./turnbar.js";

/** @import { Exchange, Item, Remark, State } from "./store.js" */

/** Outcomes that need no word. */
const PLAIN = ["spoken"];
/** Outcomes that went wrong. */
const WRONG = [
  "cut_short",
  "hearing_error",
  "model_error",
  "voice_error",
  "empty_reply",
  "over_budget",
  "timeout",
];
/** Distance from the end, in pixels, within which the list follows new lines. */
const NEAR_END = 80;

export class Transcript {
  /**
   * @param {object} parts
   * @param {HTMLElement} parts.scroll What scrolls.
   * @param {HTMLElement} parts.list
   * @param {HTMLElement} parts.partials
   * @param {HTMLElement} parts.empty Shown while nothing was said.
   * @param {(turn: number, npc: string) => void} onWhy
   */
  constructor(parts, onWhy) {
    this.parts = parts;
    this.onWhy = onWhy;
    /** @type {Map<number, {node: HTMLElement, update: (item: Item) => void}>} */
    this.rows = new Map();
    /** Follows new lines. */
    this.isAtEnd = true;
    const { scroll } = parts;
    scroll.addEventListener("scroll", () => {
      this.isAtEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR_END;
    });
    // A window that turns, or a notice above, leaves the newest line in sight.
    new ResizeObserver(() => this.follow()).observe(scroll);
  }

  follow() {
    const { scroll } = this.parts;
    if (this.isAtEnd) scroll.scrollTop = scroll.scrollHeight;
  }

  /** @param {State} state */
  show({ items, partials }) {
    const { list, empty } = this.parts;
    const keys = new Set(items.map(({ key }) => key));
    for (const [key, { node }] of this.rows) {
      if (keys.has(key)) continue;
      node.remove();
      this.rows.delete(key);
    }
    for (const item of items) {
      const known = this.rows.get(item.key);
      if (known) {
        known.update(item);
        continue;
      }
      const row = item.kind === "exchange" ? this.exchange(item) : remark(item);
      this.rows.set(item.key, row);
      list.append(row.node);
    }
    this.showPartials(partials);
    empty.hidden = items.length > 0 || partials.size > 0;
    this.follow();
  }

  /** @param {Map<string, string>} partials */
  showPartials(partials) {
    const rows = [...partials].map(([player, text]) =>
      el("p", { class: "said partial" }, el("b", {}, player), " ", text),
    );
    this.parts.partials.replaceChildren(...rows);
  }

  /** @param {Exchange} first */
  exchange(first) {
    const who = el("b");
    const words = el("span");
    const said = el("p", { class: "said" }, who, " ", words);
    const answer = el("div", { class: "answer" });
    const node = el("div", { class: "exchange" }, said, answer);
    let drawn = "";
    const update = (/** @type {Item} */ item) => {
      if (item.kind !== "exchange") return;
      said.hidden = !item.player || !item.text;
      setText(who, item.player ?? "");
      setText(words, item.text);
      const now = `${item.line ? "line" : (item.state ?? "")} ${item.npc ?? ""}`;
      if (now === drawn) return;
      drawn = now;
      answer.replaceChildren(...(item.line ? this.answered(item) : waiting(item)));
    };
    update(first);
    return { node, update };
  }

  /** @param {Exchange} item */
  answered(item) {
    const line = item.line;
    if (!line) return [];
    /** @type {HTMLElement[]} */
    const parts = [];
    const outcome = outcomeText(line.outcome, line.detail);
    if (line.npc && (line.reply || line.unspoken)) {
      const reply = el("p", { class: "reply" }, el("b", {}, line.npc), " ", line.reply);
      if (line.unspoken) {
        reply.append(" ", el("span", { class: "unheard" }, line.unspoken));
        reply.append(" ", el("span", { class: "mark" }, t("notHeard")));
      }
      parts.push(reply);
    }
    if (outcome) {
      parts.push(el("p", { class: WRONG.includes(line.outcome) ? "outcome wrong" : "outcome" }, outcome));
    }
    const bar = turnBar(line);
    const more = el("div", { class: "more", "aria-live": "off" });
    if (bar) more.append(bar);
    more.append(details(line, item.cost));
    const { npc, turn } = line;
    if (npc && turn !== null && line.reply) {
      more.append(button(t("why"), () => this.onWhy(turn, npc), { class: "link why" }));
    }
    return [...parts, more];
  }
}

/** @param {Exchange} item */
function waiting({ npc, state }) {
  if (!npc || (state !== "thinking" && state !== "speaking")) return [];
  const text = el("span", { class: "doing" }, t(state, { npc }));
  return [el("p", { class: "reply", "aria-hidden": "true" }, text)];
}

/**
 * @param {string} outcome
 * @param {string} [detail]
 */
function outcomeText(outcome, detail) {
  if (PLAIN.includes(outcome)) return "";
  const key = `outcome_${outcome}`;
  const text = isText(key) ? t(key) : outcome;
  return detail ? `${text}: ${detail}` : text;
}

/** @param {Remark} item */
function remark(item) {
  const marks = [item.kind === "notice" && item.private && t("private"), !item.ok && t("failed")];
  const node = el("div", { class: item.ok ? "remark" : "remark wrong" });
  const mark = marks.filter(Boolean).join(", ");
  if (mark) node.append(el("span", { class: "mark" }, mark), " ");
  node.append(el("span", { class: "text" }, item.text));
  return { node, update: () => {} };
}
