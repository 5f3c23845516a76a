/** The rehearsal page: connects its parts. */

import { Audio } from "./audio.js";
import { Cards } from "./cards.js";
import { Controls } from "./controls.js";
import { byId, el, setText } from "./dom.js";
import { Help } from "./help.js";
import { Gate, Microphone } from "./mic.js";
import { Music } from "./music.js";
import { Settings } from "./settings.js";
import { Socket, enter } from "./socket.js";
import { Speaker } from "./speaker.js";
import { Store } from "./store.js";
import { Talk } from "./talk.js";
import { t, translate } from "./texts.js";
import { Transcript } from "./transcript.js";
import { WhyDialog } from "./why.js";
import { isMusic } from "./wire.js";

/** @import { State } from "./store.js" */
/** @import { Talking } from "./talk.js" */
/** @import { FromPage, Services, ToPage } from "./wire.js" */

/** A level is still shown this long without a newer one, in ms. */
const LEVEL_MS = 300;

translate(document);

const store = new Store();
const audio = new Audio();
const gate = new Gate();
const help = new Help({
  box: byId("help", HTMLElement),
  title: byId("help-title", HTMLElement),
  text: byId("help-text", HTMLElement),
});
const sent = { frames: 0, peak: 0 };

const socket = new Socket({
  hello,
  message: receive,
  sound: (sound) => {
    if (isMusic(sound)) music.push(sound);
    else speaker.push(sound);
    showSilence();
  },
  connection: (connection) => {
    store.set({ connection });
    // A button that is disabled is never let go.
    if (connection !== "open") return talk.release();
    speaker.reset();
    music.clear();
    store.reset();
  },
});

const speaker = new Speaker(
  audio,
  (turn, samples) => send({ type: "played", turn, samples }),
  (rms) => showLevel("npc-level", rms),
);

const music = new Music(audio);

const mic = new Microphone(audio, heard, () => {
  talk.want(false);
  help.show("missing");
});

const settings = new Settings((changed) => {
  const { chosen } = settings;
  if (changed === "volume") speaker.setVolume(chosen.volume);
  if (changed === "name") send(hello());
  if (changed === "device" || changed === "processing") talk.reopen();
  if (changed === "openMic") talk.want(chosen.openMic);
});

const talk = new Talk(
  { button: byId("talk", HTMLButtonElement), mic, settings: () => settings.chosen },
  {
    talk: (on) => send({ type: "talk", on }),
    change: showTalk,
    problem: (error) => help.showError(error),
  },
);

const controls = new Controls(send);
const cards = new Cards(byId("npcs", HTMLElement), send, (npc) => controls.talkTo(npc));
const why = new WhyDialog(
  {
    dialog: byId("why", HTMLDialogElement),
    title: byId("why-title", HTMLElement),
    body: byId("why-body", HTMLElement),
  },
  (turn) => send({ type: "why", turn }),
);
const transcript = new Transcript(
  {
    scroll: byId("conversation", HTMLElement),
    list: byId("transcript", HTMLElement),
    partials: byId("partials", HTMLElement),
    empty: byId("empty", HTMLElement),
  },
  (turn, npc) => why.open(turn, npc),
);

/** @returns {FromPage} */
function hello() {
  // The program numbers those who come with a name that is taken.
  return { type: "hello", name: settings.chosen.name || "Player" };
}

/**
 * A frame of the microphone.
 * @param {ArrayBuffer} frame
 * @param {number} rms
 */
function heard(frame, rms) {
  if (!talk.isOn) return;
  showLevel("mic-level", rms);
  sent.frames += 1;
  sent.peak = Math.max(sent.peak, rms);
  const isSpeaking = store.state.turn?.state === "speaking";
  const passes = !settings.chosen.openMic || gate.passes(rms, isSpeaking);
  // Silence instead of nothing: the table's clock for this player is its sound.
  socket.sound(passes ? frame : new ArrayBuffer(frame.byteLength));
}

/** @param {FromPage} message */
function send(message) {
  return socket.send(message);
}

/** @param {ToPage} message */
function receive(message) {
  if (message.type === "speech") speaker.begin(message.turn);
  if (message.type === "flush") speaker.flush(message.turn);
  if (message.type === "music_flush") music.clear();
  store.apply(message);
  if (message.type === "welcome") talk.repeat();
}

/** @param {Talking} talking */
function showTalk(talking) {
  const button = byId("talk", HTMLButtonElement);
  button.setAttribute("aria-pressed", String(talking === "on"));
  button.dataset["state"] = talking;
  const label = { off: t("talk"), opening: t("opening"), on: t("talking") }[talking];
  setText(byId("talk-label", HTMLElement), label);
  if (talking === "on") help.hide();
  else showLevel("mic-level", 0);
}

/** When each level was last shown. @type {Map<string, number>} */
const levels = new Map();

/**
 * @param {"mic-level" | "npc-level"} id
 * @param {number} rms
 */
function showLevel(id, rms) {
  const meter = byId(id, HTMLMeterElement);
  const now = performance.now();
  const isNew = now - (levels.get(id) ?? 0) > LEVEL_MS;
  // Falls slowly, as meters do.
  meter.value = isNew ? rms : Math.max(rms, meter.value * 0.85);
  levels.set(id, now);
}

/** Says how to hear the table while the browser still plays nothing. */
function showSilence() {
  const isUnheard = speaker.hasUnheard || music.isUnheard;
  const canBe = !audio.isRunning && globalThis.isSecureContext;
  byId("silence", HTMLElement).hidden = !(isUnheard && canBe);
}

/** @param {State} state */
function statusText({ connection, bye, player, again }) {
  if (connection === "refused") return t("refused");
  if (connection !== "open") return bye ? t("bye", { reason: bye }) : t(connection);
  if (!player) return t("connecting");
  return t(again ? "again" : "connected", { player });
}

/**
 * What the NPCs do, for the eye alone: read aloud at each turn it would drown the answers.
 * @param {State} state
 */
function doingText({ connection, turn }) {
  if (connection !== "open" || !turn || turn.state === "idle") return "";
  return t(turn.state, { npc: turn.npc ?? t("anNpc") });
}

/** @param {Services} services */
function servicesList({ hears, thinks, speaks }) {
  /** @type {[string, string | null][]} */
  const rows = [[t("hears"), hears], [t("thinks"), thinks], [t("speaks"), speaks]];
  return rows.flatMap(([does, name]) => [el("dt", {}, does), el("dd", {}, name ?? t("none"))]);
}

/**
 * Fills a list anew if its text changed.
 * @param {HTMLElement} list
 * @param {HTMLElement[]} rows
 */
function setRows(list, rows) {
  const text = rows.map(({ textContent }) => textContent).join("");
  if (list.textContent !== text) list.replaceChildren(...rows);
}

/** @param {State} state */
function showStatus(state) {
  const { connection, player, services, mistakes, turn } = state;
  // It is connected once the program has greeted it.
  document.body.dataset["connection"] = connection === "open" && !player ? "connecting" : connection;
  document.body.dataset["turn"] = turn?.state ?? "idle";
  setText(byId("status", HTMLElement), statusText(state));
  setText(byId("doing", HTMLElement), doingText(state));
  // What was switched on can be switched off while the connection is lost.
  byId("talk", HTMLButtonElement).disabled = connection !== "open" && !talk.wanted;
  setRows(byId("services", HTMLElement), services ? servicesList(services) : []);
  byId("mistakes", HTMLElement).hidden = mistakes.length === 0;
  const rows = mistakes.map(({ file, line, text }) =>
    el("li", {}, el("b", {}, line ? t("mistakeAt", { file, line }) : file), " ", text),
  );
  setRows(byId("mistake-list", HTMLElement), rows);
}

/**
 * @param {EventTarget | null} target
 * @param {string} selector
 */
const isIn = (target, selector) => target instanceof Element && target.closest(selector) !== null;

function connectKeys() {
  document.addEventListener("keydown", (event) => {
    // In a dialog Esc closes it, and while characters are composed it ends that.
    if (event.isComposing || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    // An open list of choices is closed by Esc too.
    if (event.key === "Escape" && !event.repeat && !isIn(event.target, "select")) controls.playCard();
    if (event.key === "/" && !isIn(event.target, "input, textarea, select")) {
      event.preventDefault();
      controls.beginCommand();
    }
  });
}

function connectButtons() {
  const table = byId("table-open", HTMLButtonElement);
  table.addEventListener("click", () => {
    const isShown = document.body.dataset["view"] !== "table";
    document.body.dataset["view"] = isShown ? "table" : "conversation";
    table.setAttribute("aria-pressed", String(isShown));
  });
  byId("help-close", HTMLButtonElement).addEventListener("click", () => help.hide());
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.querySelector("[data-close]")?.addEventListener("click", () => dialog.close());
  }
}

/** Browsers allow sound from the first click or key on. */
function connectSound() {
  for (const name of ["pointerup", "click", "keydown"]) {
    addEventListener(
      name,
      () => {
        if (audio.isRunning) return;
        audio.open().catch(() => {
          // The next click tries again; pressing Talk tells why it failed.
        });
      },
      { capture: true },
    );
  }
}

async function start() {
  speaker.setVolume(settings.chosen.volume);
  audio.onState(showSilence);
  audio.onOpen(() => {
    if (settings.chosen.openMic) talk.want(true);
  });
  showTalk("off");
  connectKeys();
  connectButtons();
  connectSound();
  store.subscribe((state) => {
    transcript.show(state);
    cards.show(state);
    controls.show(state);
    why.show(state);
    showStatus(state);
  });
  socket.isAdmitted = await enter().catch(() => false);
  socket.connect();
}

// For the browser's console and for tests: what is known, sent and played.
Object.assign(globalThis, {
  glyphoxa: {
    state: () => store.state,
    sound: () => ({
      sent: { ...sent },
      played: { ...speaker.sum },
      turns: [...speaker.played],
      music: music.frames,
    }),
  },
});

void start();
