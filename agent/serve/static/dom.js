// Elements from text. Nothing that comes from a document, a model or a user ever becomes markup.

export function element(name, { text, kind, ...attributes } = {}, ...children) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export const find = (id) => document.getElementById(id);

// What a screen reader says next.
export function say(text) {
  find("live").textContent = text;
}
