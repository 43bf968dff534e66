// The canvas as it fills in: a row for each pass, masks as blocks, confidence as shade, what was masked again struck out.

import { element, say } from "./dom.js";
import { slice } from "./text.js";

const MASK = "▒";
const UNSURE = 0.4;

export class Canvas {
  constructor() {
    this.rows = element("ol", { kind: "canvas", "aria-label": "Passes over the canvas" });
    this.known = new Map();
  }

  pass(made) {
    if (made.remasked.length) this.remasked(made);
    const slots = made.canvas.split(" ").filter(Boolean).map((word) => this.slot(word));
    const count = `${made.committed} committed, ${made.masked} masked`;
    this.row(made.index ? `pass ${made.index}` : "canvas", slots, made.index ? count : "");
    this.known = counted(made.canvas.split(" "));
    if (made.index) say(`Pass ${made.index}: ${count}`);
  }

  remasked(made) {
    const words = made.remasked.map((word) => element("del", { kind: "slot", text: word }));
    this.row("re-masked", words, made.reason);
    say(`Masked again: ${made.remasked.join(", ")}. ${made.reason}`);
  }

  // A draft, each of its tokens shaded by how sure the model was of it.
  draft(draft, name, note = "") {
    const slots = draft.tokens.length ? draft.tokens.map((token) => shaded(draft.text, token)) : [];
    if (!slots.length) slots.push(element("span", { text: draft.text || "no answer" }));
    this.row(name, slots, note);
  }

  searched(hop) {
    this.row("searched", [], `again, for “${hop.query}”`);
  }

  row(name, slots, note) {
    const row = element("li", {}, element("span", { kind: "when", text: name }), element("span", { kind: "slots" }, ...slots));
    if (note) row.append(element("span", { kind: "why", text: note }));
    this.rows.append(row);
  }

  slot(word) {
    if (word.includes(MASK)) {
      const cites = word === `[${MASK}]`;
      const name = element("span", { kind: "unseen", text: cites ? "masked citation" : "masked" });
      return element("span", { kind: cites ? "slot masked pointer" : "slot masked" }, name);
    }
    const left = this.known.get(word) ?? 0;
    this.known.set(word, left - 1);
    return element("span", { kind: left > 0 ? "slot" : "slot fresh", text: word });
  }
}

function counted(words) {
  const found = new Map();
  for (const word of words) found.set(word, (found.get(word) ?? 0) + 1);
  return found;
}

function shaded(text, token) {
  const sure = token.confidence.toFixed(2);
  const slot = element("span", {
    kind: token.confidence < UNSURE ? "slot shaded unsure" : "slot shaded",
    text: slice(text, token.start, token.end),
    title: `confidence ${sure}`,
  });
  slot.style.setProperty("--sure", token.confidence);
  slot.append(element("span", { kind: "unseen", text: ` (confidence ${sure})` }));
  return slot;
}
