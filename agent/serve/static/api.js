// The server's routes. Knows requests and events; not what is done with them.

let key = sessionStorage.getItem("remask-key") ?? "";

export class Refused extends Error {
  constructor(message, status, retryAfter) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

export function useKey(given) {
  key = given;
  sessionStorage.setItem("remask-key", given);
}

async function asked(path, how = {}) {
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  const response = await fetch(path, { ...how, headers: { ...headers, ...how.headers } });
  if (!response.ok) throw await refused(response);
  return response;
}

async function refused(response) {
  const body = await response.json().catch(() => ({}));
  const message = body.error?.message ?? `the server answered ${response.status}`;
  return new Refused(message, response.status, response.headers.get("retry-after"));
}

// Each event's data, as it comes. Ends with the stream; throws Refused for an event "error".
export async function* ask(question, session, signal) {
  const query = new URLSearchParams({ question, session });
  const response = await asked(`/ask/stream?${query}`, { signal });
  for await (const { name, data } of events(response.body)) {
    if (name === "error") throw new Refused(data.error.message, 0);
    yield data;
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const found = parsed(block);
      if (found) yield found;
    }
  }
}

function parsed(block) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  return data.length ? { name, data: JSON.parse(data.join("\n")) } : null; // comments keep the line open
}

export async function documents(offset) {
  return (await asked(`/documents?${new URLSearchParams({ offset, limit: "50" })}`)).json();
}

export async function excerpt(id, start, end) {
  return (await asked(`/documents/${encodeURIComponent(id)}?${new URLSearchParams({ start, end })}`)).json();
}

export async function upload(form) {
  return (await asked("/documents", { method: "POST", body: form })).json();
}

export async function remove(id) {
  await asked(`/documents/${encodeURIComponent(id)}`, { method: "DELETE" });
}
