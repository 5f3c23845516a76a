/** The NPCs' cards: state and what a game master does with each. */

import { button, el, select } from "./dom.js";
import { tierName } from "./details.js";
import { t } from "./texts.js";
import { oneLine } from "./wire.js";

/** @import { State } from "./store.js" */
/** @import { FromPage, Npc } from "./wire.js" */

const TIERS = ["fast", "standard", "deep"];
const ENGINES = ["cascaded", "sentence_cascade", "s2s"];

/**
 * Choices of a tier; the empty one is the table's own choice.
 * @returns {[string, string][]}
 */
export const tierChoices = () => [["", t("tierAuto")], ...TIERS.map(
  (tier) => /** @type {[string, string]} */ ([tier, tierName(tier)]),
)];

export class Cards {
  /**
   * @param {HTMLElement} list
   * @param {(message: FromPage) => void} send
   * @param {(npc: string) => void} onTalkTo
   */
  constructor(list, send, onTalkTo) {
    this.list = list;
    this.send = send;
    this.onTalkTo = onTalkTo;
    /** What is drawn of each NPC. @type {Map<string, {drawn: string, node: HTMLElement}>} */
    this.cards = new Map();
  }

  /** @param {State} state */
  show({ npcs, turn }) {
    const names = new Set(npcs.map(({ name }) => name));
    for (const [name, { node }] of this.cards) {
      if (names.has(name)) continue;
      node.remove();
      this.cards.delete(name);
    }
    for (const npc of npcs) {
      const drawn = JSON.stringify(npc);
      let card = this.cards.get(npc.name);
      if (card?.drawn !== drawn) card = this.draw(npc, drawn, card?.node);
      const isActive = turn?.npc === npc.name && turn.state !== "idle";
      card.node.dataset["state"] = isActive ? turn.state : "idle";
    }
  }

  /**
   * @param {Npc} npc
   * @param {string} drawn
   * @param {HTMLElement} [old]
   */
  draw(npc, drawn, old) {
    // A redrawn card keeps the focus and what is open and half typed.
    const focused = old?.contains(document.activeElement)
      ? (document.activeElement?.getAttribute("data-act") ?? null)
      : null;
    const wasOpen = old?.querySelector("details")?.open ?? false;
    const typed = [...(old?.querySelectorAll("input") ?? [])].map(({ value }) => value);
    const node = this.card(npc);
    const more = node.querySelector("details");
    if (more) more.open = wasOpen;
    node.querySelectorAll("input").forEach((input, i) => (input.value = typed[i] ?? ""));
    if (old) old.replaceWith(node);
    else this.list.append(node);
    if (focused) {
      const again = node.querySelector(`[data-act="${focused}"]`);
      if (again instanceof HTMLElement) again.focus();
    }
    const card = { drawn, node };
    this.cards.set(npc.name, card);
    return card;
  }

  /** @param {Npc} npc */
  card(npc) {
    const { name } = npc;
    const states = [npc.muted && t("muted"), !npc.present && t("away")].filter(Boolean);
    const facts = [npc.language, npc.engine, npc.voice, npc.tier ? tierName(npc.tier) : ""];
    return el(
      "li",
      { class: npc.muted || !npc.present ? "card silent" : "card", "data-npc": name },
      el("h3", {}, name, ...(states.length ? [" ", el("span", { class: "mark" }, states.join(", "))] : [])),
      el("p", { class: "quiet" }, facts.filter(Boolean).join(" · ")),
      el(
        "div",
        { class: "buttons" },
        this.act("pin", "pin", name, () => this.onTalkTo(name)),
        this.act("hear", "hear", name, () => this.send({ type: "hear_voice", npc: name })),
        this.act("mute", npc.muted ? "unmute" : "mute", name, () =>
          this.order(npc.muted ? `/npc unmute ${name}` : `/npc mute ${name}`),
        ),
        this.act("presence", npc.present ? "leave" : "enter", name, () =>
          this.order(npc.present ? `/scene leave ${name}` : `/scene enter ${name}`),
        ),
      ),
      this.more(npc),
    );
  }

  /** @param {Npc} npc */
  more(npc) {
    const { name } = npc;
    const of = (/** @type {import("./texts.js").Key} */ key) => t("of", { what: t(key), npc: name });
    const tier = select(tierChoices(), npc.tier ?? "", { "aria-label": of("tier") });
    tier.addEventListener("change", () =>
      this.order(tier.value ? `/tier set ${tier.value} npc:${name}` : `/tier clear npc:${name}`),
    );
    return el(
      "details",
      {},
      el("summary", { "data-act": "more" }, t("direct")),
      this.line("puppet", "puppetSend", of("puppet"), (text) => {
        if (text) this.order(`/npc speak name:${name} text:${text}`);
        return text !== "";
      }),
      this.line("note", "noteSend", of("note"), (text) => {
        this.order(text ? `/npc direct name:${name} note:${text}` : `/npc direct name:${name}`);
        return true;
      }),
      el("div", { class: "row" }, el("span", { class: "label" }, t("tier")), tier),
      this.engine(npc, of("engine")),
    );
  }

  /**
   * A line of text with its button.
   * @param {"puppet" | "note"} what
   * @param {"puppetSend" | "noteSend"} send
   * @param {string} label
   * @param {(text: string) => boolean} act
   */
  line(what, send, label, act) {
    const input = el("input", { maxlength: "1000", placeholder: t(what), "aria-label": label, autocomplete: "off" });
    const submit = el("button", { type: "submit" }, t(send));
    const form = el("form", { class: "row" }, input, submit);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (act(oneLine(input.value))) input.value = "";
    });
    return form;
  }

  /**
   * First tells what another engine costs and where voices go; the second press changes it.
   * @param {Npc} npc
   * @param {string} label
   */
  engine({ name, engine }, label) {
    const known = ENGINES.includes(engine) ? ENGINES : [engine, ...ENGINES];
    const choice = select(known.map((it) => [it, it]), engine, { "aria-label": label });
    let isTold = "";
    const go = button(t("engineAsk"), () => {
      const wanted = choice.value;
      const confirm = isTold === wanted ? " confirm:true" : "";
      this.order(`/npc engine name:${name} engine:${wanted}${confirm}`);
      isTold = confirm ? "" : wanted;
      go.textContent = isTold ? t("engineChange", { engine: wanted }) : t("engineAsk");
    });
    choice.addEventListener("change", () => {
      isTold = "";
      go.textContent = t("engineAsk");
    });
    return el("div", { class: "row" }, el("span", { class: "label" }, t("engine")), choice, go);
  }

  /**
   * @param {string} act
   * @param {import("./texts.js").Key} key
   * @param {string} npc
   * @param {() => void} run
   */
  act(act, key, npc, run) {
    return button(t(key), run, { "data-act": act, "aria-label": t("of", { what: t(key), npc }) });
  }

  /** @param {string} command */
  order(command) {
    this.send({ type: "order", command });
  }
}
