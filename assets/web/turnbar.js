/** Where the milliseconds of a turn went: a bar with its three stages. */

import { el } from "./dom.js";
import { duration, t } from "./texts.js";

/** @import { TurnLine } from "./wire.js" */

/**
 * Stages of a turn that are longer than nothing, in order.
 * @param {TurnLine} line
 */
export function stages({ ms }) {
  /** @type {{kind: string, key: import("./texts.js").Key, ms: number}[]} */
  const all = [
    { kind: "heard", key: "heardStage", ms: ms.speech_end_to_final },
    { kind: "thought", key: "thoughtStage", ms: ms.final_to_first_text },
    { kind: "voice", key: "voiceStage", ms: ms.first_text_to_first_audio },
  ];
  return all.filter((stage) => stage.ms > 0);
}

/**
 * The bar, with its figures as text; null if nothing was played.
 * @param {TurnLine} line
 */
export function turnBar(line) {
  const parts = stages(line);
  if (parts.length === 0) return null;
  const bar = el("div", { class: "bar", "aria-hidden": "true" });
  const figures = el("p", { class: "figures" });
  for (const { kind, key, ms } of parts) {
    const part = el("span", { class: `stage ${kind}` });
    part.style.flexGrow = String(ms);
    bar.append(part);
    figures.append(el("span", { class: `figure ${kind}` }, t(key, { ms: duration(ms) })), " ");
  }
  const first = line.ms.speech_end_to_first_audio;
  if (first > 0) figures.append(el("span", { class: "figure" }, t("firstSound", { ms: duration(first) })));
  return el("div", { class: "turnbar", role: "group", "aria-label": t("bar") }, bar, figures);
}
