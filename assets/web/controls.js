/** The table's own controls: scene, music, tier of all answers, X-card, and what is typed. */

import { byId, setChoices, setText } from "./dom.js";
import { tierChoices } from "./cards.js";
import { t } from "./texts.js";
import { oneLine } from "./wire.js";

/** @import { State } from "./store.js" */
/** @import { FromPage, Tier } from "./wire.js" */

/** Lines typed before, reached with the arrow keys. */
const TYPED_MAX = 50;

export class Controls {
  /** @param {(message: FromPage) => boolean} send */
  constructor(send) {
    this.send = send;
    this.say = byId("say", HTMLInputElement);
    this.to = byId("to", HTMLSelectElement);
    this.place = byId("place", HTMLInputElement);
    this.time = byId("time", HTMLInputElement);
    this.tier = byId("tier", HTMLSelectElement);
    this.volume = byId("music-volume", HTMLInputElement);
    /** @type {string[]} */
    this.typed = [];
    this.at = 0;
    this.player = "";
    this.scene = "";
    this.percent = 0;
    this.npcs = "";
    this.common = "";
    this.connectTyping();
    this.connectTable();
  }

  connectTyping() {
    onSubmit("say-form", () => {
      const text = oneLine(this.say.value);
      if (!text) return;
      const isSent = text.startsWith("/")
        ? this.order(text)
        : this.send({ type: "say", text, npc: this.to.value || null });
      // What could not be sent stays.
      if (!isSent) return;
      this.typed = [...this.typed, text].slice(-TYPED_MAX);
      this.at = this.typed.length;
      this.say.value = "";
    });
    this.to.addEventListener("change", () => this.pin(this.to.value));
    this.say.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
      if (by === 0 || event.isComposing || this.typed.length === 0) return;
      event.preventDefault();
      this.at = Math.max(0, Math.min(this.typed.length, this.at + by));
      this.say.value = this.typed[this.at] ?? "";
    });
  }

  connectTable() {
    onSubmit("scene-form", () => {
      const place = oneLine(this.place.value) || "-";
      const time = oneLine(this.time.value) || "-";
      this.order(`/scene set location:${place} time:${time}`);
    });
    const mood = byId("mood", HTMLInputElement);
    onSubmit("music-form", () => {
      const words = oneLine(mood.value);
      if (words) this.order(`/music play ${words}`);
    });
    byId("music-stop", HTMLButtonElement).addEventListener("click", () => this.order("/music stop"));
    const { volume } = this;
    volume.addEventListener("change", () => this.order(`/music volume ${volume.value}`));
    setChoices(this.to, [["", t("toAnyone")]], "");
    setChoices(this.tier, tierChoices(), "");
    this.tier.addEventListener("change", () =>
      this.send({ type: "tier", tier: /** @type {Tier} */ (this.tier.value) || null }),
    );
    byId("xcard", HTMLButtonElement).addEventListener("click", () => this.playCard());
    byId("card-end", HTMLButtonElement).addEventListener("click", () => this.order("/npc unmuteall"));
  }

  playCard() {
    this.order("/xcard");
  }

  /** @param {string} command */
  order(command) {
    return this.send({ type: "order", command });
  }

  /**
   * Sends what is said and typed to this NPC.
   * @param {string} npc
   */
  talkTo(npc) {
    this.to.value = npc;
    this.pin(npc);
    this.say.focus();
  }

  /**
   * This player's spoken words go the same way as typed ones.
   * @param {string} npc Empty: whoever is meant.
   */
  pin(npc) {
    const mine = `player:${this.player}`;
    this.order(npc ? `/npc pin name:${npc} ${mine}` : `/npc unpin ${mine}`);
  }

  /** Puts a slash into the line, for a command. */
  beginCommand() {
    this.say.focus();
    if (!this.say.value) this.say.value = "/";
  }

  /** @param {State} state */
  show({ player, npcs, scene, music, card }) {
    this.player = player;
    const names = npcs.map(({ name }) => name);
    if (names.join("\n") !== this.npcs) {
      this.npcs = names.join("\n");
      /** @type {[string, string][]} */
      const choices = [["", t("toAnyone")], ...names.map((it) => /** @type {[string, string]} */ ([it, it]))];
      setChoices(this.to, choices, this.to.value);
    }
    // The program tells the tier of each NPC; one that all have is the table's.
    const tiers = new Set(npcs.map(({ tier }) => tier ?? ""));
    const [common = ""] = tiers.size === 1 ? tiers : [];
    if (common !== this.common) {
      this.common = common;
      this.tier.value = common;
    }
    const now = `${scene.location ?? ""}\n${scene.time ?? ""}`;
    if (now !== this.scene) {
      this.scene = now;
      this.place.value = scene.location ?? "";
      this.time.value = scene.time ?? "";
    }
    // Players move it while other things change.
    if (music.volume !== this.percent) {
      this.percent = music.volume;
      this.volume.value = String(music.volume);
    }
    const titles = music.playing.join(", ");
    setText(byId("music-now", HTMLElement), titles ? t("musicNow", { titles }) : "");
    byId("card", HTMLElement).hidden = !card;
    setText(byId("card-text", HTMLElement), card ? t("cardUp") : "");
  }
}

/**
 * @param {string} id
 * @param {() => void} act
 */
function onSubmit(id, act) {
  byId(id, HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    act();
  });
}
