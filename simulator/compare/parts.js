// Texts of values cut into pieces, and the pieces that are not those of another format's text; colours of YAML and SQL.

// A string, an empty object or list, a bracket, a comma, a colon, or a number or word; blanks are skipped.
const TOKEN = /"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}[\],:]|[^\s{}[\],:"]+/g;
const SHORT = 24; // characters of an object that stays on its line

// The pieces of a text, indented if it is JSON. Values and names have a path; a list of one is as its element.
function pieces(text) {
  if (!/^[[{]/.test(text)) return [{ text, path: "", value: true }];
  const stack = [], found = [], tokens = text.match(TOKEN);
  const line = () => text.length < SHORT ? "" : "\n" + "  ".repeat(stack.length);
  const path = () => stack.map((each) => each.object ? each.name : `#${each.index}`).join("/");
  tokens.forEach((token, i) => {
    const inside = stack.at(-1);
    if (token === "}" || token === "]") { stack.pop(); found.push({ text: line() + token }); }
    else if (token === ",") { if (inside) inside.index++; found.push({ text: "," + line() }); }
    else if (token === ":") found.push({ text: ": " });
    else if (inside?.object && tokens[i + 1] === ":") { inside.name = token; found.push({ text: token, path: path(), name: true }); }
    else if (token === "{" || token === "[") { stack.push({ object: token === "{", index: 0, name: "" }); found.push({ text: token + line() }); }
    else found.push({ text: token, path: path(), value: true });
  });
  if (text[0] === "[" && !found.some((each) => each.path?.startsWith("#1")))
    for (const each of found) if (each.path) each.path = each.path.replace(/^#0\/?/, "");
  return found;
}
const indented = (text) => pieces(text).map((piece) => piece.text).join("");

// The pieces of a text, those that differ marked by `from` and `to`; `missing` has the names that only the base has.
function compared(text, base) {
  const mine = pieces(text), theirs = pieces(base);
  const values = new Map(theirs.filter((p) => p.value).map((p) => [p.path, p.text]));
  const names = new Set(theirs.filter((p) => p.name).map((p) => p.path));
  const there = new Set(mine.filter((p) => p.name).map((p) => p.path));
  for (const piece of mine) {
    if (piece.name && names.size && !names.has(piece.path)) Object.assign(piece, { from: 0, to: piece.text.length });
    else if (piece.value && values.get(piece.path) !== piece.text) Object.assign(piece, differing(piece.text, values.get(piece.path)));
  }
  const missing = there.size ? [...names].filter((path) => !there.has(path)).map((path) => path.split("/").at(-1).slice(1, -1)) : [];
  const same = text !== base && !missing.length && !mine.some((piece) => piece.to);
  const order = (list) => list.filter((p) => p.value).map((p) => p.path).join();
  const note = !same ? "" : order(mine) !== order(theirs) ? "same values, other order" : "same values, other shape";
  return { pieces: mine, missing, note };
}

// Where a text differs from another: between what both begin with and what both end with, or all of it if they share little.
function differing(text, base = "") {
  const most = Math.min(text.length, base.length);
  let from = 0, end = 0;
  while (from < most && text[from] === base[from]) from++;
  while (end < most - from && text[text.length - 1 - end] === base[base.length - 1 - end]) end++;
  const little = from + end < most / 2 || from + end === text.length || most < 4;
  return little ? { from: 0, to: text.length } : { from, to: text.length - end };
}

// Bytes in hexadecimal, eight a line, with their offset and the characters of ASCII.
function hexdump(hex) {
  const bytes = hex.match(/../g) ?? [], lines = [];
  for (let i = 0; i < bytes.length; i += 8) {
    const line = bytes.slice(i, i + 8);
    const ascii = line.map((b) => { const code = parseInt(b, 16); return code > 31 && code < 127 ? String.fromCharCode(code) : "·"; }).join("");
    lines.push(`${i.toString(16).padStart(4, "0")}  ${line.join(" ").padEnd(23)}  ${ascii}`);
  }
  return lines.join("\n");
}

// Tokens that have a colour, by their class; a language's other words have none.
const COLOURED = {
  yaml: /(?<comment>(?<=^|\s)#.*)|(?<name>[\w.$-]+(?=:(?:\s|$)))|(?<text>"(?:[^"\\]|\\.)*"|'[^']*')|(?<number>\b\d[\w.]*\b)/gm,
  sql: /(?<comment>--.*|\/\*[\s\S]*?\*\/)|(?<text>'(?:[^'\\]|\\.|'')*'|"[^"]*"|`[^`]*`)|(?<number>\b\d[\w.]*\b)|(?<name>\b(?:add|alter|and|auto_increment|begin|by|change|column|commit|create|database|default|delete|drop|exists|foreign|from|if|in|index|insert|into|key|modify|not|null|on|or|primary|references|rename|rollback|schema|select|set|start|table|to|transaction|truncate|unique|update|use|values|where)\b)/gim,
};

function coloured(text, language, el) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(COLOURED[language])) {
    const [name] = Object.entries(match.groups).find(([, found]) => found !== undefined);
    parts.push(text.slice(end, match.index), el("span", { class: `token-${name}` }, match[0]));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end), "\n"]; // a last empty line has its height
}
