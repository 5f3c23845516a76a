/** What the player chose, kept by the browser for this address. */

import { byId, setChoices } from "./dom.js";
import { Microphone } from "./mic.js";
import { t } from "./texts.js";

/** Name under which the browser keeps it. */
const STORED = "glyphoxa.rehearsal";
/** Longest name, in characters. */
export const NAME_MAX = 40;

/**
 * @typedef {object} Chosen
 * @property {string} name Empty: the program chooses one.
 * @property {boolean} openMic
 * @property {boolean} processing
 * @property {string} device Empty: the browser's choice.
 * @property {number} volume 0 to 1
 */

/** @returns {Chosen} */
export function stored() {
  /** @type {Chosen} */
  const chosen = { name: "", openMic: false, processing: true, device: "", volume: 1 };
  let given;
  try {
    given = JSON.parse(localStorage.getItem(STORED) ?? "{}");
  } catch {
    return chosen;
  }
  for (const [key, value] of Object.entries(chosen)) {
    const other = given?.[key];
    if (typeof other === typeof value) Object.assign(chosen, { [key]: other });
  }
  chosen.name = chosen.name.slice(0, NAME_MAX);
  chosen.volume = Math.max(0, Math.min(1, chosen.volume || 0));
  return chosen;
}

export class Settings {
  /** @param {(changed: keyof Chosen) => void} onChange */
  constructor(onChange) {
    this.chosen = stored();
    this.onChange = onChange;
    this.dialog = byId("settings", HTMLDialogElement);
    this.device = byId("device", HTMLSelectElement);
    byId("settings-open", HTMLButtonElement).addEventListener("click", () => void this.open());
    this.connect();
  }

  connect() {
    const name = byId("name", HTMLInputElement);
    const openMic = byId("open-mic", HTMLInputElement);
    const processing = byId("processing", HTMLInputElement);
    const volume = byId("volume", HTMLInputElement);
    name.value = this.chosen.name;
    openMic.checked = this.chosen.openMic;
    processing.checked = this.chosen.processing;
    volume.value = String(Math.round(this.chosen.volume * 100));
    name.addEventListener("change", () => this.set({ name: name.value.trim().slice(0, NAME_MAX) }));
    openMic.addEventListener("change", () => this.set({ openMic: openMic.checked }));
    processing.addEventListener("change", () => this.set({ processing: processing.checked }));
    volume.addEventListener("input", () => this.set({ volume: Number(volume.value) / 100 }));
    this.device.addEventListener("change", () => this.set({ device: this.device.value }));
    this.showDevices([]);
  }

  async open() {
    this.dialog.showModal();
    this.showDevices(await Microphone.devices().catch(() => []));
  }

  /** @param {MediaDeviceInfo[]} devices */
  showDevices(devices) {
    /** @type {[string, string][]} */
    const choices = [["", t("deviceDefault")]];
    for (const { deviceId, label } of devices) choices.push([deviceId, label]);
    setChoices(this.device, choices, this.chosen.device);
  }

  /** @param {Partial<Chosen>} change */
  set(change) {
    Object.assign(this.chosen, change);
    try {
      localStorage.setItem(STORED, JSON.stringify(this.chosen));
    } catch {
      // A private window may keep nothing; the choice holds until the page is closed.
    }
    for (const key of Object.keys(change)) this.onChange(/** @type {keyof Chosen} */ (key));
  }
}
