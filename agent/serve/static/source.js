// The passage a citation quotes, in its document. Focus goes in when it opens and back when it closes.

import { excerpt } from "./api.js";
import { element, find } from "./dom.js";
import { around } from "./text.js";

const AROUND = 1500;
let opener = null;

export async function open(citation, button) {
  leave();
  opener = button;
  opener.setAttribute("aria-expanded", "true");
  find("source-title").textContent = citation.title || citation.document_id;
  find("source-where").textContent = `${citation.document_id}, characters ${citation.start} to ${citation.end}`;
  find("source-text").replaceChildren("Loading…");
  find("source").hidden = false;
  find("source-title").focus();
  try {
    show(await excerpt(citation.document_id, Math.max(0, citation.start - AROUND), citation.end + AROUND), citation);
  } catch (error) {
    find("source-text").replaceChildren(element("p", { kind: "error", role: "alert", text: error.message }));
  }
}

export function close() {
  find("source").hidden = true;
  const back = opener;
  leave();
  back?.focus();
}

function show(found, citation) {
  const [before, inside, after] = around(found.text, citation.start - found.start, citation.end - found.start);
  if (inside !== citation.quote) {
    const note = "The document was changed since it was quoted. This is what was quoted:";
    find("source-text").replaceChildren(element("p", { kind: "error", text: note }), element("mark", { text: citation.quote }));
    return;
  }
  const marked = element("mark", { text: inside });
  const begins = found.start > 0 ? "… " : "";
  const goesOn = found.end < found.characters ? " …" : "";
  find("source-text").replaceChildren(begins + before, marked, after + goesOn);
  marked.scrollIntoView({ block: "center" });
}

function leave() {
  opener?.setAttribute("aria-expanded", "false");
  opener = null;
}
