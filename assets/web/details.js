/** Everything about one exchange: who was meant, tier, tools, memories, services, cost. */

import { el, shown } from "./dom.js";
import { duration, isText, money, t } from "./texts.js";

/** @import { ToolLine, TurnLine } from "./wire.js" */

/**
 * The tier's name in the page's language.
 * @param {string} tier
 */
export function tierName(tier) {
  const key = `tier_${tier}`;
  return isText(key) ? t(key) : tier;
}

/**
 * @param {TurnLine} line
 * @param {number} cost
 */
export function details(line, cost) {
  const list = el("dl");
  /**
   * @param {string} name
   * @param {...(Node | string)} value
   */
  const add = (name, ...value) => list.append(el("dt", {}, name), el("dd", {}, ...value));
  add(t("addressed"), line.npc ?? t("nobody"), line.detail ? ` (${line.detail})` : "");
  if (line.tier) add(t("tierLine"), tierText(line.tier));
  if (line.visible.length) add(t("offered"), line.visible.join(", "));
  if (line.tools.length) add(t("called"), ...line.tools.map(call));
  if (line.recalled) add(t("recalled"), recalledText(line.recalled));
  const made = line.made_by;
  if (made) {
    const services = [made.heard, ...made.thought, made.spoke].filter(Boolean).join(" → ");
    add(t("madeBy"), `${services} (${made.engine}${made.because ? `: ${made.because}` : ""})`);
  }
  add(t("cost"), t("costLine", { cost: money(cost), spent: money(line.spent) }));
  return el("details", {}, el("summary", {}, t("details")), list);
}

/** @param {{selected: string, effective: string, reason: string}} tier */
function tierText({ selected, effective, reason }) {
  const values = { tier: tierName(effective), selected: tierName(selected), reason };
  return t(selected === effective ? "tierReason" : "tierLowered", values);
}

/** @param {{ms: number, found: number, late: string[]}} recalled */
function recalledText({ ms, found, late }) {
  const text = t("recalledLine", { found, ms: duration(ms) });
  return late.length ? `${text}; ${t("recalledLate", { parts: late.join(", ") })}` : text;
}

/**
 * One call of a tool.
 * @param {ToolLine} line
 */
export function call(line) {
  const values = { tool: line.tool, ms: duration(line.ms) };
  const heading = t(line.ok ? "callOk" : "callFailed", values);
  const extra = [line.cached && t("callCached"), line.pending && t("callPending")].filter(Boolean);
  return el(
    "div",
    { class: line.ok ? "call" : "call failed" },
    el("strong", {}, [heading, ...extra].join(", ")),
    block(t("arguments"), line.arguments),
    block(t("result"), line.result),
  );
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function block(name, value) {
  return el("div", { class: "value" }, el("span", { class: "label" }, name), el("code", {}, shown(value)));
}
