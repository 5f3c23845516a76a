/**
 * Messages between this page and the program: JSON text frames, named by `type`.
 *
 * Sound goes in binary frames: up 16 kHz, down 48 kHz, 16-bit little-endian, at most 20 ms each.
 * Speech is mono, so it has at most 1,920 bytes; music is stereo, left before right, and always has
 * `MUSIC_BYTES`. The size alone tells which of both it is.
 */

/** Samples a second of the program's sound; turns are acknowledged in these. */
export const DOWN_RATE = 48_000;
/** Samples a second of the microphone's sound. */
export const UP_RATE = 16_000;
/** Samples of one frame of the microphone: 20 ms. */
export const UP_FRAME = 320;

/** Bytes of a frame of music: 20 ms, two channels of two bytes. */
export const MUSIC_BYTES = 3840;

/**
 * @typedef {"fast" | "standard" | "deep"} Tier
 * @typedef {"thinking" | "speaking" | "idle"} TurnState
 */

/**
 * @typedef {object} Npc
 * @property {string} name
 * @property {string} language
 * @property {string} engine `cascaded`, `sentence_cascade` or `s2s`.
 * @property {string | null} voice
 * @property {string | null} tier Set by a game master; null: each turn's own.
 * @property {boolean} muted
 * @property {boolean} present
 */

/**
 * @typedef {object} Scene
 * @property {string | null} location
 * @property {string | null} time
 */

/**
 * @typedef {object} Music
 * @property {string[]} playing Titles, without effects.
 * @property {number} volume In percent.
 */

/**
 * Names of the services in use; null where none is configured.
 * @typedef {object} Services
 * @property {string | null} hears
 * @property {string | null} thinks
 * @property {string | null} speaks
 */

/**
 * @typedef {object} ToolLine
 * @property {string} tool
 * @property {unknown} arguments
 * @property {unknown} result
 * @property {boolean} ok
 * @property {number} ms
 * @property {string | null} tier Null for an unknown tool.
 * @property {number} attempts
 * @property {boolean} cached
 * @property {boolean} pending
 */

/**
 * Durations of a turn's stages in ms; 0 if a stage was ready early.
 * @typedef {object} Timings
 * @property {number} speech_end_to_final
 * @property {number} final_to_first_text
 * @property {number} first_text_to_first_audio
 * @property {number} speech_end_to_first_audio
 */

/**
 * One exchange, as `glyphoxa ask --json` prints it.
 * @typedef {object} TurnLine
 * @property {number | null} turn Null if no NPC answered.
 * @property {string} speaker
 * @property {string} heard
 * @property {number} partials
 * @property {string | null} npc
 * @property {{selected: string, effective: string, reason: string} | null} tier
 * @property {string[]} visible
 * @property {ToolLine[]} tools
 * @property {string} reply
 * @property {string} [unspoken]
 * @property {string} outcome
 * @property {string} [detail]
 * @property {number} audio_ms
 * @property {Timings} ms
 * @property {{ms: number, found: number, late: string[]}} [recalled]
 * @property {{heard: string, thought: string[], spoke: string, engine: string, because?: string}}
 *   [made_by]
 * @property {string | null} brain
 * @property {string} stt
 * @property {string | null} tts
 * @property {number} spent
 */

/**
 * @typedef {object} Mistake
 * @property {string} file
 * @property {number | null} line
 * @property {string} text
 */

/**
 * @typedef {object} Why
 * @property {"why"} type
 * @property {number} turn
 * @property {{name: string, text: string}[]} parts
 * @property {unknown[]} recalled Lines of text.
 * @property {ToolLine[]} tools
 */

/**
 * @typedef {object} Welcome
 * @property {"welcome"} type
 * @property {string} player
 * @property {Npc[]} npcs
 * @property {Scene} scene
 * @property {Music} music
 * @property {Services} services
 * @property {boolean} again True if this page's player was at the table before.
 * @property {string} session Of the table; numbers of lines and turns begin again in another one.
 * @property {number} removals X-cards and deletions in it so far, which have removed lines.
 */

/**
 * From the program to the page.
 * @typedef {Welcome
 *   | {type: "partial", player: string, text: string}
 *   | {type: "said", player: string, text: string, id: number}
 *   | {type: "turn", turn: number, state: TurnState, npc: string | null}
 *   | {type: "line", number: number, line: TurnLine}
 *   | {type: "taken_back", lines: number[], removals: number}
 *   | {type: "forgotten", player: string, removals: number}
 *   | {type: "cleared", removals: number}
 *   | {type: "answer", text: string, ok: boolean}
 *   | {type: "notice", text: string, private: boolean}
 *   | {type: "mistakes", files: Mistake[]}
 *   | Why
 *   | {type: "npcs", npcs: Npc[], scene: Scene, music: Music}
 *   | {type: "speech", turn: number, npc: string}
 *   | {type: "flush", turn: number}
 *   | {type: "music_flush"}
 *   | {type: "card", on: boolean}
 *   | {type: "bye", reason: string}} ToPage
 */

/**
 * From the page to the program.
 * @typedef {{type: "hello", name: string}
 *   | {type: "talk", on: boolean}
 *   | {type: "say", text: string, npc: string | null}
 *   | {type: "played", turn: number, samples: number}
 *   | {type: "order", command: string}
 *   | {type: "why", turn: number}
 *   | {type: "hear_voice", npc: string}
 *   | {type: "tier", tier: Tier | null}} FromPage
 */

/**
 * A text frame as a message; null if it is none.
 * @param {string} text
 * @returns {ToPage | null}
 */
export function read(text) {
  try {
    const value = JSON.parse(text);
    return typeof value?.type === "string" ? value : null;
  } catch {
    return null;
  }
}

/**
 * True if a binary frame is music; else it is speech.
 * @param {ArrayBuffer} sound
 */
export const isMusic = (sound) => sound.byteLength === MUSIC_BYTES;

/**
 * User text for a typed command: one line.
 * @param {string} text
 */
export const oneLine = (text) => text.replace(/\s+/g, " ").trim();
