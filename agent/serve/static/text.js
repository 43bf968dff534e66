// Spans count Unicode code points, as Python does; strings here count UTF-16 units. Only this module knows.

// The UTF-16 position of a code point, or the string's end.
export function unit(text, point) {
  let at = 0;
  for (let passed = 0; passed < point && at < text.length; passed++) {
    at += text.codePointAt(at) > 0xffff ? 2 : 1;
  }
  return at;
}

export function slice(text, start, end) {
  return text.slice(unit(text, start), unit(text, end));
}

// "before", "inside" and "after" of a span.
export function around(text, start, end) {
  const [from, to] = [unit(text, start), unit(text, end)];
  return [text.slice(0, from), text.slice(from, to), text.slice(to)];
}
