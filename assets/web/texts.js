/** Every text of the page, in English and German; the browser's language decides. */

const ENGLISH = {
  title: "Rehearsal",
  skip: "Skip to the conversation",
  conversation: "Conversation",
  empty: "Press Talk, or hold the space bar, and say something. Or type below.",
  controls: "Talk and type",
  talk: "Talk",
  talking: "Talk: listening…",
  opening: "Talk: opening the microphone…",
  talkHint: "Hold the button or the space bar while you speak, or click once to start and once to end.",
  mic: "Your microphone's level",
  npcLevel: "The NPC's level",
  you: "You",
  npc: "NPC",
  understood: "Close this notice",
  say: "Say or command",
  sayPlaceholder: "Type instead",
  to: "To",
  toAnyone: "anyone",
  send: "Send",
  xcard: "X-card",
  xcardHint: "Silences every NPC at once and takes the last exchange back (Esc)",
  cardUp: "An X-card has silenced every NPC and taken the last exchange back.",
  cardEnd: "Let everyone speak again",
  settings: "Settings",
  close: "Close",
  name: "Your name",
  anNpc: "An NPC",
  openMic: "Leave the microphone open",
  openMicHint: "Wear headphones, or the microphone hears the NPCs.",
  processing: "Let the browser clean up the microphone (echo, noise, loudness)",
  device: "Microphone",
  deviceDefault: "The browser's choice",
  volume: "Volume of the NPCs",
  keys: "Keys",
  keySpace: "Space: talk while it is held",
  keyEsc: "Esc: play the X-card",
  keySlash: "/: type a command, such as /help",
  table: "Table",
  npcs: "NPCs",
  scene: "Scene",
  place: "Place",
  time: "Time of day",
  setScene: "Set the scene",
  music: "Music",
  mood: "Mood, place or title",
  play: "Play",
  stop: "Stop",
  musicVolume: "Volume of the music",
  musicNow: "Playing: {titles}",
  tierAll: "Time for answers",
  tierAuto: "as asked",
  tier_fast: "fast",
  tier_standard: "standard",
  tier_deep: "deep",
  muted: "muted",
  away: "not here",
  mute: "Mute",
  unmute: "Unmute",
  enter: "Bring in",
  leave: "Send out",
  hear: "Hear it",
  pin: "Speak to",
  direct: "Words, note, tier, engine",
  puppet: "Words to speak",
  puppetSend: "Speak",
  note: "Secret note (or none)",
  noteSend: "Give",
  engine: "Engine",
  engineAsk: "Show the cost",
  engineChange: "Change to {engine}",
  tier: "Time for answers",
  of: "{what}: {npc}",
  services: "Services",
  hears: "Hears",
  thinks: "Thinks",
  speaks: "Speaks",
  none: "nothing",
  connecting: "Connecting…",
  connected: "Connected as {player}",
  again: "Connected again as {player}",
  lost: "The program doesn't answer. Trying again…",
  refused: "This page may not enter: each link works once, for ten minutes. Press Enter where “glyphoxa rehearse” runs and open the new link, or close another page.",
  bye: "Disconnected: {reason}. Trying again…",
  thinking: "{npc} is thinking…",
  speaking: "{npc} is speaking…",
  clickToHear: "Click anywhere or press a key to turn on the sound.",
  mistakes: "Mistakes in your files",
  mistakeAt: "{file}, line {line}",
  private: "only for you",
  failed: "failed",
  notHeard: "not heard",
  details: "Details",
  why: "Why did it say that?",
  whyTitle: "Why did {npc} say that?",
  whyWaiting: "Asking the program…",
  whyRecalled: "Recalled",
  whyTools: "Tools called",
  whyNothing: "nothing",
  addressed: "Meant",
  nobody: "no NPC",
  tierLine: "Tier",
  tierReason: "{tier} ({reason})",
  tierLowered: "{tier} instead of {selected} ({reason})",
  offered: "Tools offered",
  called: "Tools called",
  callOk: "{tool}, {ms}",
  callFailed: "{tool} failed, {ms}",
  callCached: "from the cache",
  callPending: "still running",
  arguments: "with",
  result: "result",
  recalled: "Recalled",
  recalledLine: "{found} in {ms}",
  recalledLate: "too late: {parts}",
  madeBy: "Made by",
  cost: "Cost",
  costLine: "${cost} (${spent} so far)",
  heardStage: "heard {ms}",
  thoughtStage: "thought {ms}",
  voiceStage: "voice {ms}",
  firstSound: "first sound after {ms}",
  bar: "Time to the first sound",
  outcome_interrupted: "interrupted",
  outcome_cut_short: "cut short",
  outcome_nobody_addressed: "no NPC was meant",
  outcome_empty_transcript: "nothing understood",
  outcome_hearing_error: "the recogniser failed",
  outcome_model_error: "the model failed",
  outcome_voice_error: "the voice failed",
  outcome_empty_reply: "no answer",
  outcome_over_budget: "over budget",
  outcome_put_off: "put off",
  outcome_timeout: "no answer in time",
  outcome_cancelled: "dropped",
  outcome_stopped: "stopped",
  outcome_command: "a command",
  outcome_granted: "done by the table",
  mic_insecure: "The connection is the problem, not your browser.",
  mic_insecure_fix:
    "Browsers give microphones only to pages from this machine or with HTTPS. Open http://127.0.0.1 on the machine that runs Glyphoxa; or forward its port with “ssh -L {port}:127.0.0.1:{port} HOST” and open http://127.0.0.1:{port} here; or put HTTPS before it. You can type meanwhile.",
  mic_denied: "The browser doesn't allow this page to use the microphone.",
  mic_denied_fix:
    "Click the icon left of the address, allow the microphone, and press Talk again. On some systems the browser itself needs the permission, in the privacy settings.",
  mic_missing: "No microphone is connected.",
  mic_missing_fix: "Connect one, or switch it on, and press Talk again. You can type meanwhile.",
  mic_busy: "Another program uses the microphone.",
  mic_busy_fix: "Close that program, or choose another microphone in the settings, and press Talk again.",
  mic_failed: "The microphone can't be opened.",
  mic_failed_fix: "Choose another one in the settings, or reload the page. The browser says: {detail}",
};

/** @typedef {keyof typeof ENGLISH} Key */

/** @type {Record<Key, string>} */
const GERMAN = {
  title: "Probe",
  skip: "Zum Gespräch springen",
  conversation: "Gespräch",
  empty: "Drück auf Sprechen oder halte die Leertaste und sag etwas. Oder schreib unten.",
  controls: "Sprechen und schreiben",
  talk: "Sprechen",
  talking: "Sprechen: ich höre zu …",
  opening: "Sprechen: Mikrofon wird geöffnet …",
  talkHint: "Halte den Knopf oder die Leertaste, während du sprichst, oder klick einmal zum Beginnen und einmal zum Beenden.",
  mic: "Pegel deines Mikrofons",
  npcLevel: "Pegel des NSC",
  you: "Du",
  npc: "NSC",
  understood: "Hinweis schließen",
  say: "Satz oder Befehl",
  sayPlaceholder: "Tippen",
  to: "An",
  toAnyone: "jeden",
  send: "Senden",
  xcard: "X-Karte",
  xcardHint: "Lässt alle NSC sofort verstummen und nimmt den letzten Wortwechsel zurück (Esc)",
  cardUp: "Eine X-Karte hat alle NSC verstummen lassen und den letzten Wortwechsel zurückgenommen.",
  cardEnd: "Alle wieder sprechen lassen",
  settings: "Einstellungen",
  close: "Schließen",
  name: "Dein Name",
  anNpc: "Ein NSC",
  openMic: "Mikrofon offen lassen",
  openMicHint: "Trag Kopfhörer, sonst hört das Mikrofon die NSC.",
  processing: "Der Browser bereinigt das Mikrofon (Echo, Rauschen, Lautstärke)",
  device: "Mikrofon",
  deviceDefault: "Wahl des Browsers",
  volume: "Lautstärke der NSC",
  keys: "Tasten",
  keySpace: "Leertaste: sprechen, solange sie gehalten wird",
  keyEsc: "Esc: X-Karte ausspielen",
  keySlash: "/: einen Befehl schreiben, etwa /help",
  table: "Tisch",
  npcs: "NSC",
  scene: "Szene",
  place: "Ort",
  time: "Tageszeit",
  setScene: "Szene setzen",
  music: "Musik",
  mood: "Stimmung, Ort oder Titel",
  play: "Abspielen",
  stop: "Anhalten",
  musicVolume: "Lautstärke der Musik",
  musicNow: "Es läuft: {titles}",
  tierAll: "Zeit für Antworten",
  tierAuto: "je nach Frage",
  tier_fast: "schnell",
  tier_standard: "normal",
  tier_deep: "gründlich",
  muted: "stumm",
  away: "nicht hier",
  mute: "Stumm schalten",
  unmute: "Sprechen lassen",
  enter: "Hereinholen",
  leave: "Hinausschicken",
  hear: "Anhören",
  pin: "Ansprechen",
  direct: "Worte, Notiz, Stufe, Engine",
  puppet: "Worte zum Sprechen",
  puppetSend: "Sprechen",
  note: "Geheime Notiz (oder keine)",
  noteSend: "Geben",
  engine: "Engine",
  engineAsk: "Kosten zeigen",
  engineChange: "Zu {engine} wechseln",
  tier: "Zeit für Antworten",
  of: "{what}: {npc}",
  services: "Dienste",
  hears: "Hört",
  thinks: "Denkt",
  speaks: "Spricht",
  none: "nichts",
  connecting: "Verbinde …",
  connected: "Verbunden als {player}",
  again: "Wieder verbunden als {player}",
  lost: "Das Programm antwortet nicht. Neuer Versuch …",
  refused: "Diese Seite darf nicht herein: Jeder Link gilt einmal, zehn Minuten lang. Drück Enter, wo „glyphoxa rehearse“ läuft, und öffne den neuen Link, oder schließ eine andere Seite.",
  bye: "Getrennt: {reason}. Neuer Versuch …",
  thinking: "{npc} denkt nach …",
  speaking: "{npc} spricht …",
  clickToHear: "Klick irgendwohin oder drück eine Taste, um den Ton einzuschalten.",
  mistakes: "Fehler in deinen Dateien",
  mistakeAt: "{file}, Zeile {line}",
  private: "nur für dich",
  failed: "fehlgeschlagen",
  notHeard: "nicht gehört",
  details: "Einzelheiten",
  why: "Warum diese Antwort?",
  whyTitle: "Warum hat {npc} das gesagt?",
  whyWaiting: "Frage das Programm …",
  whyRecalled: "Erinnert",
  whyTools: "Aufgerufene Werkzeuge",
  whyNothing: "nichts",
  addressed: "Gemeint",
  nobody: "kein NSC",
  tierLine: "Stufe",
  tierReason: "{tier} ({reason})",
  tierLowered: "{tier} statt {selected} ({reason})",
  offered: "Angebotene Werkzeuge",
  called: "Aufgerufene Werkzeuge",
  callOk: "{tool}, {ms}",
  callFailed: "{tool} fehlgeschlagen, {ms}",
  callCached: "aus dem Zwischenspeicher",
  callPending: "läuft noch",
  arguments: "mit",
  result: "Ergebnis",
  recalled: "Erinnert",
  recalledLine: "{found} in {ms}",
  recalledLate: "zu spät: {parts}",
  madeBy: "Gemacht von",
  cost: "Kosten",
  costLine: "{cost} $ (bisher {spent} $)",
  heardStage: "gehört {ms}",
  thoughtStage: "gedacht {ms}",
  voiceStage: "Stimme {ms}",
  firstSound: "erster Ton nach {ms}",
  bar: "Zeit bis zum ersten Ton",
  outcome_interrupted: "unterbrochen",
  outcome_cut_short: "abgebrochen",
  outcome_nobody_addressed: "kein NSC war gemeint",
  outcome_empty_transcript: "nichts verstanden",
  outcome_hearing_error: "die Spracherkennung ist ausgefallen",
  outcome_model_error: "das Modell ist ausgefallen",
  outcome_voice_error: "die Stimme ist ausgefallen",
  outcome_empty_reply: "keine Antwort",
  outcome_over_budget: "über dem Budget",
  outcome_put_off: "aufgeschoben",
  outcome_timeout: "keine Antwort in der Zeit",
  outcome_cancelled: "verworfen",
  outcome_stopped: "angehalten",
  outcome_command: "ein Befehl",
  outcome_granted: "vom Tisch erledigt",
  mic_insecure: "Die Verbindung ist das Problem, nicht dein Browser.",
  mic_insecure_fix:
    "Browser geben das Mikrofon nur Seiten dieses Rechners oder mit HTTPS. Öffne http://127.0.0.1 auf dem Rechner, auf dem Glyphoxa läuft; oder leite den Port mit „ssh -L {port}:127.0.0.1:{port} RECHNER“ um und öffne hier http://127.0.0.1:{port}; oder schalte HTTPS davor. Schreiben geht inzwischen.",
  mic_denied: "Der Browser erlaubt dieser Seite das Mikrofon nicht.",
  mic_denied_fix:
    "Klick auf das Zeichen links von der Adresse, erlaube das Mikrofon und drück wieder auf Sprechen. Auf manchen Systemen braucht der Browser selbst die Erlaubnis, in den Einstellungen zum Datenschutz.",
  mic_missing: "Es ist kein Mikrofon angeschlossen.",
  mic_missing_fix: "Schließ eines an oder schalte es ein und drück wieder auf Sprechen. Schreiben geht inzwischen.",
  mic_busy: "Ein anderes Programm benutzt das Mikrofon.",
  mic_busy_fix: "Schließ dieses Programm oder wähl in den Einstellungen ein anderes Mikrofon und drück wieder auf Sprechen.",
  mic_failed: "Das Mikrofon lässt sich nicht öffnen.",
  mic_failed_fix: "Wähl in den Einstellungen ein anderes oder lad die Seite neu. Der Browser sagt: {detail}",
};

/** The page's language: `en` or `de`. */
export const LANGUAGE = globalThis.navigator?.language?.toLowerCase().startsWith("de") ? "de" : "en";

const TEXTS = LANGUAGE === "de" ? GERMAN : ENGLISH;

/**
 * A text, with `{name}` replaced by values.
 * @param {Key} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  return TEXTS[key].replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/**
 * Whether there is a text of this name, such as one of an outcome.
 * @param {string} key
 * @returns {key is Key}
 */
export const isText = (key) => Object.hasOwn(TEXTS, key);

/**
 * A duration in ms, as people read it.
 * @param {number} ms
 */
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toLocaleString(LANGUAGE, { maximumFractionDigits: 2 })} s`;
}

/**
 * Money, to a hundredth of a cent.
 * @param {number} dollars
 */
export const money = (dollars) =>
  dollars.toLocaleString(LANGUAGE, { minimumFractionDigits: 2, maximumFractionDigits: 4 });

/**
 * Fills in the texts of the page's own elements: `data-t` their content, `data-t-label`,
 * `data-t-placeholder` and `data-t-title` their attributes.
 * @param {Document} page
 */
export function translate(page) {
  page.documentElement.lang = LANGUAGE;
  for (const element of page.querySelectorAll("[data-t]")) {
    element.textContent = text(element, "data-t");
  }
  for (const [name, attribute] of [
    ["data-t-label", "aria-label"],
    ["data-t-placeholder", "placeholder"],
    ["data-t-title", "title"],
  ]) {
    if (!name || !attribute) continue;
    for (const element of page.querySelectorAll(`[${name}]`)) {
      element.setAttribute(attribute, text(element, name));
    }
  }
  page.title = `${t("title")} – Glyphoxa`;
}

/**
 * @param {Element} element
 * @param {string} attribute
 */
function text(element, attribute) {
  const key = element.getAttribute(attribute) ?? "";
  return isText(key) ? t(key) : key;
}
