// The documents: listed, added, removed.

import * as api from "./api.js";
import { element, find } from "./dom.js";

export async function refresh() {
  find("documents-list").replaceChildren();
  await more();
}

export async function more() {
  const { documents, total, passages } = await api.documents(find("documents-list").children.length);
  find("documents-list").append(...documents.map(row));
  find("documents-more").hidden = find("documents-list").children.length >= total || !documents.length;
  find("about").textContent = `${counted(total, "document")}, ${counted(passages, "passage")}`;
}

export async function add(form) {
  const files = form.elements.files.files;
  if (!files.length) return note("Choose files first.");
  note(`Adding ${counted(files.length, "file")}…`);
  try {
    const done = await api.upload(new FormData(form));
    form.reset();
    await refresh();
    note([`${done.added} added, ${done.updated} replaced, ${done.unchanged} as before.`, ...done.notes].join(" "));
  } catch (error) {
    note(error.message, true);
  }
}

function row(one) {
  const button = element("button", { type: "button", text: "Remove", "aria-label": `Remove ${one.title || one.id}` });
  button.addEventListener("click", () => confirmed(button, one));
  const about = one.title && one.title !== one.id ? `${one.title} (${one.id})` : one.id;
  return element("li", {}, element("span", { text: about }), button);
}

// The first press asks, the second removes.
async function confirmed(button, one) {
  if (button.textContent === "Remove") {
    button.textContent = "Really remove?";
    button.setAttribute("aria-label", `Really remove ${one.title || one.id}?`);
    button.addEventListener("blur", () => (button.textContent = "Remove"), { once: true });
    return;
  }
  try {
    await api.remove(one.id);
    await refresh();
    note(`${one.title || one.id} is removed.`);
    find("documents-title").focus();
  } catch (error) {
    note(error.message, true);
  }
}

function note(text, bad = false) {
  const place = find("documents-note");
  place.textContent = text;
  place.className = bad ? "error" : "";
}

const counted = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
