/** The connection to the program, opened again whenever it ends. */

import { read } from "./wire.js";

/** @import { FromPage, ToPage } from "./wire.js" */

/** Waits before another attempt, in ms; the last one repeats. */
const WAITS = [300, 600, 1200, 2500, 5000];
/** Code of a connection that ends because this tab, or a copy of it, has opened another one. */
const REPLACED = 4000;
/** Where the tab's name is stored while its page is reloaded. */
const TAB = "glyphoxa.tab";
/** Unsent bytes above which sound is dropped: 2 s of it. */
const UNSENT_MAX = 64_000;

/** @typedef {"connecting" | "open" | "lost" | "refused"} Connection */

/**
 * Exchanges the token of the opened link, which works once, for a cookie. The token is in the
 * fragment, which browsers send nowhere, and leaves the address bar and the history at once.
 * @returns {Promise<boolean>} False if the program refused it.
 */
export async function enter() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return true;
  history.replaceState(null, "", location.pathname);
  const answer = await fetch("/enter", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
    credentials: "same-origin",
  });
  return answer.ok;
}

/**
 * The random name of this tab, by which the program knows a page again whose connection was lost. A
 * reloaded page has it again. A copy of the tab has another one, since the name is stored only while
 * the tab has no page.
 */
export class Tab {
  constructor() {
    this.name = take() ?? fresh();
    addEventListener("pagehide", () => {
      try {
        sessionStorage.setItem(TAB, this.name);
      } catch {
        // Without storage the reloaded page is another player until the lost connection ends.
      }
    });
    addEventListener("pageshow", take);
  }

  /** Another page has the name: both would take each other's place forever. */
  renew() {
    this.name = fresh();
  }
}

/** Takes the name out of the storage; null if it has none. */
function take() {
  try {
    const name = sessionStorage.getItem(TAB);
    sessionStorage.removeItem(TAB);
    return name;
  } catch {
    return null;
  }
}

function fresh() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Socket {
  /**
   * @param {object} on
   * @param {() => FromPage} on.hello First message of each connection; later ones rename the player.
   * @param {(message: ToPage) => void} on.message
   * @param {(sound: ArrayBuffer) => void} on.sound
   * @param {(connection: Connection) => void} on.connection
   */
  constructor(on) {
    this.on = on;
    this.tab = new Tab();
    /** @type {WebSocket | null} */
    this.socket = null;
    this.failures = 0;
    /** False if the link that opened the page was refused. */
    this.isAdmitted = true;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    clearTimeout(this.timer);
    const address = new URL("/table", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.search = `?tab=${this.tab.name}`;
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.isAdmitted = true;
      this.failures = 0;
      this.send(this.on.hello());
      this.on.connection("open");
    };
    socket.onmessage = ({ data }) => {
      if (typeof data !== "string") return this.on.sound(data);
      const message = read(data);
      if (message) this.on.message(message);
    };
    socket.onclose = ({ code }) => {
      if (code === REPLACED) this.tab.renew();
      void this.retry(wasOpen);
    };
  }

  /** @param {boolean} wasOpen */
  async retry(wasOpen) {
    const failures = this.failures++;
    // Browsers do not say why a socket was refused. If the page itself can be had, it is the cookie.
    const isDoubtful = !wasOpen && (failures > 0 || !this.isAdmitted);
    const isRefused = isDoubtful && (await isThere());
    this.on.connection(isRefused ? "refused" : "lost");
    const wait = WAITS[Math.min(failures, WAITS.length - 1)] ?? 5000;
    this.timer = setTimeout(() => this.connect(), wait);
  }

  /**
   * Sends a message, unless the connection is lost.
   * @param {FromPage} message
   */
  send(message) {
    if (!this.isOpen) return false;
    this.socket?.send(JSON.stringify(message));
    return true;
  }

  /**
   * Sends a frame of the microphone; late sound is worth nothing and is dropped.
   * @param {ArrayBuffer} frame
   */
  sound(frame) {
    if (this.socket && this.isOpen && this.socket.bufferedAmount < UNSENT_MAX) this.socket.send(frame);
  }
}

/** True if the program answers at all. */
async function isThere() {
  try {
    return (await fetch("/", { method: "HEAD", cache: "no-store" })).ok;
  } catch {
    return false;
  }
}
