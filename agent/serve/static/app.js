// The page: what each control does, and how a question becomes a turn of the conversation.

import * as answer from "./answer.js";
import * as api from "./api.js";
import { Canvas } from "./canvas.js";
import * as documents from "./documents.js";
import { element, find, say } from "./dom.js";
import * as source from "./source.js";
import * as trace from "./trace.js";

const DOING = { retrieve: "searching", draft: "drafting", refine: "denoising again", cite: "looking up the citations" };
let session = fresh();
let running = null;

function fresh() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `page-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

async function ask(question) {
  const turn = begun(question);
  running = new AbortController();
  busy(true);
  try {
    for await (const event of api.ask(question, session, running.signal)) show(event, turn);
  } catch (error) {
    failed(error, turn);
  } finally {
    running = null;
    busy(false);
    turn.doing.remove();
  }
}

function begun(question) {
  find("welcome").hidden = true;
  const canvas = new Canvas();
  const doing = element("p", { kind: "quiet busy", text: "waiting for a turn" });
  const passes = element("details", { kind: "card", open: "" }, element("summary", { text: "Canvas" }), canvas.rows);
  const item = element("li", { kind: "turn" }, element("p", { kind: "asked", text: question }), passes, doing);
  find("turns").append(item);
  item.scrollIntoView({ block: "start" });
  return { item, canvas, doing, passes };
}

function show(event, turn) {
  switch (event.type) {
    case "rewritten":
      turn.passes.before(element("p", { kind: "quiet", text: `asked in full: ${event.question}` }));
      break;
    case "stage":
      turn.doing.textContent = DOING[event.stage] ?? event.stage;
      break;
    case "evidence":
      turn.doing.textContent = `${event.hop.hits.length} passages found`;
      if (event.number > 1) turn.canvas.searched(event.hop);
      break;
    case "pass":
      turn.canvas.pass(event.made);
      break;
    case "draft":
      turn.canvas.draft(event.draft, "draft");
      break;
    case "refined":
      turn.canvas.draft(event.draft, "refined", event.kept ? "" : "no better: the draft before stays");
      break;
    case "answer":
      turn.passes.before(answer.shown(event.answer, source.open));
      turn.item.append(trace.shown(event.answer.trace, event.answer.confidence));
      say(answer.spoken(event.answer));
      break;
  }
}

function failed(error, turn) {
  if (error.name === "AbortError") {
    turn.item.append(element("p", { kind: "quiet", text: "stopped" }));
    say("Stopped");
    return;
  }
  const later = error.retryAfter ? ` Try again in ${error.retryAfter} s.` : "";
  turn.item.append(element("p", { kind: "error", role: "alert", text: `${error.message}${error.retryAfter ? "." + later : ""}` }));
  if (error.status === 401) wantKey();
}

function busy(now) {
  find("send").disabled = now;
  find("stop").hidden = !now;
}

function wantKey() {
  find("key").hidden = false;
  find("key-input").focus();
}

async function refreshed() {
  try {
    await documents.refresh();
  } catch (error) {
    find("about").textContent = error.message;
    if (error.status === 401) wantKey();
  }
}

find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = find("question").value.trim();
  if (!question || running) return;
  find("question").value = "";
  ask(question);
});

find("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    find("ask").requestSubmit();
  }
});

find("stop").addEventListener("click", () => {
  running?.abort();
  find("question").focus();
});

find("new-conversation").addEventListener("click", () => {
  running?.abort();
  session = fresh();
  find("turns").replaceChildren();
  find("welcome").hidden = false;
  source.close();
  find("question").focus();
});

find("open-documents").addEventListener("click", (event) => {
  const panel = find("documents");
  panel.hidden = !panel.hidden;
  event.currentTarget.setAttribute("aria-expanded", String(!panel.hidden));
  if (!panel.hidden) {
    panel.scrollIntoView({ block: "start" });
    find("documents-title").focus();
    refreshed();
  }
});

find("upload").addEventListener("submit", (event) => {
  event.preventDefault();
  documents.add(event.currentTarget);
});

find("documents-more").addEventListener("click", documents.more);
find("source-close").addEventListener("click", source.close);

find("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  api.useKey(find("key-input").value);
  find("key").hidden = true;
  find("question").focus();
  refreshed();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !find("source").hidden) source.close();
});

refreshed();
find("question").focus();
