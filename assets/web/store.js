/**
 * What the page knows. Messages of the program change it by `apply`, the page's own parts by
 * `set`; listeners are called once after all changes of a moment.
 */

/**
 * @import {
 *   Mistake, Music, Npc, Scene, Services, ToPage, TurnLine, TurnState, Welcome, Why,
 * } from "./wire.js"
 * @import { Connection } from "./socket.js"
 */

/** Exchanges and notices kept; older ones leave the page. */
const ITEMS_MAX = 300;

/** Turn of exchanges before the last connection. */
const GONE = -1;

/**
 * What a player said and what an NPC answered; either may be missing.
 * @typedef {object} Exchange
 * @property {"exchange"} kind
 * @property {number} key
 * @property {number | null} id Of the player's words.
 * @property {string | null} player
 * @property {string} text
 * @property {number | null} turn
 * @property {string | null} npc
 * @property {TurnState | null} state
 * @property {TurnLine | null} line
 * @property {number | null} number Of the line; null if it is of an earlier session.
 * @property {number} cost In dollars.
 */

/**
 * @typedef {object} Remark
 * @property {"notice" | "answer"} kind
 * @property {number} key
 * @property {string} text
 * @property {boolean} private
 * @property {boolean} ok
 */

/** @typedef {Exchange | Remark} Item */

/**
 * @typedef {object} State
 * @property {Connection} connection
 * @property {string} bye Why the program ended the connection; empty if it did not.
 * @property {string} player
 * @property {boolean} again
 * @property {string} session
 * @property {number} removals X-cards and deletions in the session that this page knows of.
 * @property {Npc[]} npcs
 * @property {Scene} scene
 * @property {Music} music
 * @property {Services | null} services
 * @property {Item[]} items
 * @property {Map<string, string>} partials Words not final yet, by player.
 * @property {{turn: number, state: TurnState, npc: string | null} | null} turn The last one that changed.
 * @property {Mistake[]} mistakes
 * @property {boolean} card
 * @property {Why | null} why
 * @property {number} spent In dollars, at this table.
 */

export class Store {
  constructor() {
    /** @type {State} */
    this.state = {
      connection: "connecting",
      bye: "",
      player: "",
      again: false,
      session: "",
      removals: 0,
      npcs: [],
      scene: { location: null, time: null },
      music: { playing: [], volume: 100 },
      services: null,
      items: [],
      partials: new Map(),
      turn: null,
      mistakes: [],
      card: false,
      why: null,
      spent: 0,
    };
    /** @type {((state: State) => void)[]} */
    this.listeners = [];
    this.isDue = false;
    this.keys = 0;
  }

  /** @param {(state: State) => void} listener */
  subscribe(listener) {
    this.listeners.push(listener);
    listener(this.state);
  }

  /** @param {Partial<State>} change */
  set(change) {
    Object.assign(this.state, change);
    if (this.isDue) return;
    this.isDue = true;
    queueMicrotask(() => {
      this.isDue = false;
      for (const listener of this.listeners) listener(this.state);
    });
  }

  /** @param {ToPage} message */
  apply(message) {
    switch (message.type) {
      case "welcome":
        return this.welcome(message);
      case "partial":
        this.state.partials.set(message.player, message.text);
        return this.set({});
      case "said":
        return this.said(message.player, message.text, message.id);
      case "turn":
        return this.turn(message);
      case "line":
        return this.line(message.line, message.number);
      case "taken_back":
        return this.takenBack(message.lines, message.removals);
      case "forgotten":
        return this.forgotten(message.player, message.removals);
      case "cleared":
        return this.retract(message.removals, () => true);
      case "answer":
        return this.remark({ kind: "answer", text: message.text, private: true, ok: message.ok });
      case "notice":
        return this.remark({ kind: "notice", text: message.text, private: message.private, ok: true });
      case "mistakes":
        return this.set({ mistakes: message.files });
      case "why":
        return this.set({ why: message });
      case "npcs":
        return this.set({ npcs: message.npcs, scene: message.scene, music: message.music });
      case "card":
        return this.set({ card: message.on });
      case "bye":
        return this.set({ bye: message.reason });
      default:
        // Sound is not shown; a newer program may send more.
        return;
    }
  }

  /** A new connection: numbers may begin again, and what was in progress may never end here. */
  reset() {
    for (const item of this.exchanges()) Object.assign(item, { id: null, turn: GONE, state: null });
    this.state.partials.clear();
    // The program tells mistakes only where there are some.
    this.set({ bye: "", turn: null, card: false, mistakes: [], why: null, spent: 0 });
  }

  /** @param {Welcome} message */
  welcome({ player, npcs, scene, music, services, again, session, removals }) {
    if (session !== this.state.session) {
      for (const item of this.exchanges()) item.number = null;
    } else if (removals !== this.state.removals) {
      // While the page was away.
      this.retract(removals, () => true);
    }
    this.set({ player, npcs, scene, music, services, again, session, removals });
  }

  /**
   * An X-card: what has no line yet gets none any more.
   * @param {number[]} lines
   * @param {number} removals
   */
  takenBack(lines, removals) {
    this.retract(removals, ({ line, number }) => !line || (number !== null && lines.includes(number)));
  }

  /**
   * A player's words were deleted.
   * @param {string} player
   * @param {number} removals
   */
  forgotten(player, removals) {
    this.retract(removals, (item) => item.player === player || item.line?.speaker === player);
  }

  /**
   * Removes exchanges, words that are not final, and the explanation of an answer.
   * @param {number} removals All of them, with this one; if the page has missed one, it removes everything.
   * @param {(item: Exchange) => boolean} fits
   */
  retract(removals, fits) {
    const hasMissed = removals > this.state.removals + 1;
    const isGone = (/** @type {Item} */ item) => item.kind === "exchange" && (hasMissed || fits(item));
    this.state.items = this.state.items.filter((item) => !isGone(item));
    this.state.partials.clear();
    this.set({ removals, why: null });
  }

  /**
   * @param {string} player
   * @param {string} text
   * @param {number} id
   */
  said(player, text, id) {
    this.state.partials.delete(player);
    const last = this.state.items.at(-1);
    // An NPC may begin to think before its player's words are told.
    const isAhead = last?.kind === "exchange" && last.state === "thinking" && last.player === null;
    const known =
      this.newest((item) => item.id === id && item.player === player) ?? (isAhead ? last : undefined);
    if (known) Object.assign(known, { player, text, id });
    else this.exchange({ player, text, id });
    this.set({});
  }

  /** @param {{turn: number, state: TurnState, npc: string | null}} message */
  turn({ turn, state, npc }) {
    const known = this.newest((item) => item.turn === turn && !item.line);
    if (state === "idle") {
      // A guess that was dropped is followed by another turn about the same words.
      if (known?.text === "") this.remove(known);
      else if (known) Object.assign(known, { turn: null, state: null });
    } else {
      const waits = () => this.newest((item) => item.turn === null && item.player !== null && !item.line);
      // Words of the game master and greetings answer no one.
      const item = known ?? waits() ?? this.exchange({});
      Object.assign(item, { turn, state, npc: npc ?? item.npc });
    }
    const isOther = state === "idle" && this.state.turn !== null && this.state.turn.turn !== turn;
    if (!isOther) this.state.turn = { turn, state, npc };
    this.set({});
  }

  /**
   * @param {TurnLine} line
   * @param {number} number
   */
  line(line, number) {
    const isSame = (/** @type {Exchange} */ item) => item.player === line.speaker && item.text === line.heard;
    const isTurn = (/** @type {Exchange} */ item) => item.turn !== null && item.turn === line.turn;
    const open = (/** @type {(item: Exchange) => boolean} */ fits) =>
      this.newest((item) => !item.line && fits(item));
    const item =
      open((it) => isTurn(it) && (isSame(it) || it.player === null)) ??
      open(isSame) ??
      open(isTurn) ??
      this.exchange({ player: line.heard ? line.speaker : null, text: line.heard });
    const cost = Math.max(0, line.spent - this.state.spent);
    // The words were told apart from the turn.
    const apart = item.player === null && line.heard ? open((it) => it !== item && isSame(it)) : undefined;
    if (apart) this.remove(apart);
    if (line.heard) Object.assign(item, { text: line.heard, player: item.player ?? line.speaker });
    const [npc, turn] = [line.npc ?? item.npc, item.turn ?? line.turn];
    Object.assign(item, { line, number, npc, turn, state: "idle", cost });
    this.state.partials.delete(line.speaker);
    const current = this.state.turn?.turn === item.turn ? null : this.state.turn;
    this.set({ spent: Math.max(this.state.spent, line.spent), turn: current });
  }

  /** @param {Omit<Remark, "key">} remark */
  remark(remark) {
    this.add({ ...remark, key: ++this.keys });
    this.set({});
  }

  /**
   * @param {Partial<Exchange>} known
   * @returns {Exchange}
   */
  exchange(known) {
    /** @type {Exchange} */
    const made = {
      kind: "exchange",
      key: ++this.keys,
      id: null,
      player: null,
      text: "",
      turn: null,
      npc: null,
      state: null,
      line: null,
      number: null,
      cost: 0,
      ...known,
    };
    this.add(made);
    return made;
  }

  /** @param {Item} item */
  add(item) {
    this.state.items.push(item);
    if (this.state.items.length > ITEMS_MAX) this.state.items.shift();
  }

  /** @param {Item} item */
  remove(item) {
    this.state.items = this.state.items.filter((it) => it !== item);
  }

  /** @param {(item: Exchange) => boolean} fits */
  newest(fits) {
    return this.exchanges().findLast(fits);
  }

  exchanges() {
    return this.state.items.filter((item) => item.kind === "exchange");
  }
}
