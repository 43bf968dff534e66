// An answer: its text, its citations where they belong, and the sentences they quote.

import { element } from "./dom.js";
import { slice } from "./text.js";

// `open(citation, button)` shows a source.
export function shown(answer, open) {
  const card = element("div", { kind: answer.abstained ? "card abstained" : "card" });
  const text = element("p", { kind: "said" });
  let at = 0;
  for (const [end, numbers] of byEnd(answer.citations)) {
    text.append(slice(answer.text, at, end));
    at = end;
    for (const number of numbers) text.append(mark(answer.citations[number], number, open));
  }
  text.append(slice(answer.text, at, Infinity));
  card.append(text);
  if (answer.reason) card.append(element("p", { kind: "quiet", text: answer.reason }));
  if (answer.citations.length) card.append(quotes(answer.citations, open));
  return card;
}

export function spoken(answer) {
  const count = answer.citations.length;
  return answer.abstained ? answer.text : `Answer: ${answer.text}. ${count} citation${count === 1 ? "" : "s"}.`;
}

function byEnd(citations) {
  const found = new Map();
  citations.forEach((citation, number) => {
    found.set(citation.answer_end, [...(found.get(citation.answer_end) ?? []), number]);
  });
  return [...found].sort(([one], [other]) => one - other);
}

const named = (citation) => citation.title || citation.document_id;

function mark(citation, number, open) {
  const button = element("button", {
    kind: "cite",
    type: "button",
    text: String(number + 1),
    "aria-expanded": "false",
    "aria-controls": "source",
    "aria-label": `Citation ${number + 1}: ${named(citation)}. Shows the source`,
  });
  button.addEventListener("click", () => open(citation, button));
  return button;
}

function quotes(citations, open) {
  const items = citations.map((citation, number) => {
    const button = element("button", { type: "button", "aria-controls": "source", "aria-expanded": "false" });
    button.append(
      element("span", { text: `${number + 1}. “${citation.quote}”` }),
      element("span", { kind: "quiet", text: `${named(citation)}, support ${citation.support.toFixed(2)}` }),
    );
    button.addEventListener("click", () => open(citation, button));
    return element("li", {}, button);
  });
  return element("ol", { kind: "quotes", "aria-label": "Sentences quoted" }, ...items);
}
