// How an answer came about: time by stage, searches, candidates, doubts.

import { element } from "./dom.js";

export function shown(trace, confidence) {
  const body = element("div");
  body.append(element("h3", { text: "Time" }), times(trace.seconds));
  body.append(element("h3", { text: "Searches" }), ...trace.hops.map(search));
  if (trace.candidates.length) body.append(element("h3", { text: "Candidates" }), candidates(trace.candidates));
  if (trace.doubts.length) body.append(element("h3", { text: "Still doubtful" }), list(trace.doubts.map(doubted)));
  if (trace.errors.length) body.append(element("h3", { text: "Trouble" }), list(trace.errors));
  const ended = trace.stopped ? `Drafting ended: ${trace.stopped}. ` : "";
  body.append(element("p", { kind: "quiet", text: `${ended}Confidence ${confidence.toFixed(2)}. Model ${trace.generator}, seed ${trace.seed}.` }));
  return element("details", { kind: "trace" }, element("summary", { text: "How it came about" }), body);
}

function times(seconds) {
  const rows = Object.entries(seconds).filter(([stage]) => stage !== "total");
  const most = Math.max(...rows.map(([, taken]) => taken), 1e-9);
  const made = rows.map(([stage, taken]) => {
    const bar = element("span", { kind: "bar" });
    bar.style.setProperty("width", `${(100 * taken) / most}%`);
    return [stage, milliseconds(taken), bar];
  });
  made.push(["total", milliseconds(seconds.total ?? 0), ""]);
  return table(["stage", "ms#", ""], made);
}

function search(hop, number) {
  const rows = hop.hits.map((hit) => [
    String(hit.rank),
    hit.title || hit.document_id,
    hit.score.toFixed(3),
    Object.entries(hit.rankers).map(([name, verdict]) => `${name} ${verdict.rank}`).join(", "),
  ]);
  const why = hop.occasion === "question" ? "" : ` (${hop.occasion})`;
  return element("div", {}, element("p", { text: `${number + 1}. “${hop.query}”${why}` }), table(["rank#", "passage", "score#", "ranks"], rows));
}

function candidates(all) {
  return table(
    ["text", "weight#", "confidence#", "support#"],
    all.map((one) => [one.text || "no answer", ...[one.weight, one.confidence, one.support].map((n) => n.toFixed(2))]),
  );
}

const doubted = (doubt) => `“${doubt.text}”: ${doubt.source}, ${doubt.detail}`;
const milliseconds = (seconds) => (1000 * seconds).toFixed(0);
const list = (lines) => element("ul", {}, ...lines.map((text) => element("li", { text })));

// A name that ends in # heads numbers.
function table(names, rows) {
  const kinds = names.map((name) => (name.endsWith("#") ? "number" : name === "" ? "bars" : ""));
  const head = names.map((name, at) => element("th", { scope: "col", kind: kinds[at], text: name.replace("#", "") }));
  const body = rows.map((cells) => element("tr", {}, ...cells.map((cell, at) => element("td", { kind: kinds[at] }, cell))));
  return element("div", { kind: "wide", tabindex: "0", role: "region", "aria-label": names[0].replace("#", "") },
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)));
}
