/** Elements of the page. Text of others goes in by `textContent` alone. */

/**
 * An element that the page has.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function byId(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} '${id}'`);
  return found;
}

/**
 * A new element with attributes and children; strings become text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, string>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/**
 * A button that does something.
 * @param {string} label
 * @param {() => void} act
 * @param {Record<string, string>} [attributes]
 */
export function button(label, act, attributes = {}) {
  const made = el("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", act);
  return made;
}

/**
 * Choices with their labels.
 * @param {[value: string, label: string][]} choices
 * @param {string} chosen
 * @param {Record<string, string>} [attributes]
 */
export function select(choices, chosen, attributes = {}) {
  const made = el("select", attributes);
  setChoices(made, choices, chosen);
  return made;
}

/**
 * Replaces the choices of a select. Options that move from one select to another change what both
 * have chosen, so the choice is set at the end.
 * @param {HTMLSelectElement} made
 * @param {[value: string, label: string][]} choices
 * @param {string} chosen The first choice if it is none of them.
 */
export function setChoices(made, choices, chosen) {
  made.replaceChildren(...choices.map(([value, label]) => el("option", { value }, label)));
  made.value = choices.some(([value]) => value === chosen) ? chosen : (choices[0]?.[0] ?? "");
}

/**
 * Sets text only if it changed, so that screen readers do not read it again.
 * @param {Node} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Characters of JSON that are shown in one line. */
const LINE_MAX = 100;

/**
 * A value of others as text: strings as they are, anything else as JSON.
 * @param {unknown} value
 */
export function shown(value) {
  if (typeof value === "string") return value;
  const line = JSON.stringify(value) ?? "";
  return line.length > LINE_MAX ? JSON.stringify(value, null, 2) : line;
}
