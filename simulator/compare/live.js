// The editor of `cdcsim explore`. The page shows the messages; this asks the server for them when the text changes.

// A text as a part of an address, and back: deflated, in URL-safe base64. The server reads the same (`live.shared`).
async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

function live(data, state, { el, choose, chosen, writeAddress, show }) {
  const pause = 350; // milliseconds after the last key
  const facts = data.live;
  const drafts = facts.drafts;
  // A reload keeps the text; the address of each server is another one, and its text, too.
  const storage = (name) => `${location.pathname}${name}`;
  for (const name of Object.keys(drafts)) drafts[name].text = sessionStorage.getItem(storage(name)) ?? drafts[name].text;
  let language = sessionStorage.getItem(storage("language")) ?? facts.language, timer = 0, asking = false, again = false, asked = "";
  facts.file = () => drafts[language].file;

  const text = el("textarea", { id: "draft", spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off",
    maxlength: String(facts.characters), "aria-describedby": "state", oninput: edited, onscroll: scrolled });
  const numbers = el("pre", { id: "numbers", "aria-hidden": "true" }), colours = el("pre", { id: "colours", "aria-hidden": "true" });
  const picker = el("select", { id: "language", onchange: () => { language = picker.value; sessionStorage.setItem(storage("language"), language); put(drafts[language].text); ask(); } },
    el("option", { value: "yaml" }, "a scenario in YAML"), el("option", { value: "sql" }, "a SQL script"));
  const button = (id, name, onclick) => el("button", { type: "button", id, onclick }, name);
  const mistake = el("div", { id: "mistake", role: "alert", hidden: true });
  const status = el("p", { id: "state", role: "status" });
  const label = el("label", { for: "draft" }, `The messages follow what you type: the first ${facts.changes} row changes. A reload keeps the text; no file is written.`);
  document.getElementById("main").before(el("section", { id: "editor", "aria-label": "Editor" }, el("h2", {}, "Scenario"),
    el("div", { class: "controls" }, el("label", {}, "Language", picker), button("download", "Download", download), button("share", "Share", share)),
    label, el("div", { id: "code" }, numbers, colours, text), mistake, status));
  document.title = document.querySelector("h1").textContent = `Explore ${data.scenario}`;
  picker.value = language;
  put(drafts[language].text);

  function put(value) { text.value = value; coloursOf(); }
  function coloursOf() {
    colours.replaceChildren(...coloured(text.value, language, el));
    numbers.textContent = text.value.split("\n").map((_, i) => i + 1).join("\n") + "\n";
    scrolled();
  }
  function scrolled() {
    colours.style.transform = `translate(${-text.scrollLeft}px, ${-text.scrollTop}px)`;
    numbers.style.transform = `translateY(${-text.scrollTop}px)`;
  }
  function edited() {
    drafts[language].text = text.value;
    sessionStorage.setItem(storage(language), text.value);
    coloursOf();
    writeAddress(); // without a shared text
    later();
  }

  function download() {
    const url = URL.createObjectURL(new Blob([text.value], { type: "text/plain" }));
    el("a", { href: url, download: drafts[language].file.split("/").at(-1) }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  // The address of this view with the text in it. Another machine has another server, so the command is what is passed on.
  async function share() {
    state.draft = `${language}.${await packed(text.value)}`;
    writeAddress();
    const command = `cdcsim explore '${location.hash}'`;
    state.draft = "";
    try {
      await navigator.clipboard.writeText(command);
      status.textContent = "Copied: a command that opens this view, with this text, on any machine. The address bar has it, too.";
    } catch { status.textContent = "The address bar has the text: cdcsim explore 'ADDRESS' opens it on any machine."; }
  }

  // The text of an address that was shared comes before the one that a reload keeps.
  async function takeShared() {
    const [name, text] = state.draft.split(".");
    state.draft = "";
    if (!(name in drafts)) return;
    try { drafts[name].text = await unpacked(text); } catch { status.textContent = "The address has a text that cannot be read; copy it again, whole."; return; }
    language = picker.value = name;
    put(drafts[name].text);
    edited();
  }
  addEventListener("hashchange", takeShared);

  // Boundary values of a system's types, asked for once.
  const wanted = new Set();
  facts.types = async (system) => {
    if (wanted.has(system)) return;
    wanted.add(system);
    const reply = await fetch(`${location.pathname}types/${system}`);
    if (reply.ok) { data.types[system] = await reply.json(); show(); } else wanted.delete(system);
  };

  // Formats and source systems need other messages; other choices only show the same ones differently.
  facts.chosen = (changes) => { if ("formats" in changes || "source" in changes || "base" in changes) ask(); };

  function later() { clearTimeout(timer); status.textContent = "Waiting for a pause …"; timer = setTimeout(ask, pause); }

  // One request at a time; what changes meanwhile is asked for after it.
  async function ask() {
    clearTimeout(timer);
    if (asking) { again = true; return; }
    asking = true;
    const source = state.source, formats = chosen();
    asked = formats.join();
    status.textContent = "Making messages …";
    try {
      const reply = await fetch(location.pathname, { method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ text: text.value, file: drafts[language].file, source: source || null, formats }) });
      if (reply.status === 409) later(); // another window of this page was faster
      else if (reply.ok) take(source, await reply.json());
      else report({ text: await reply.text(), line: null }, true);
    } catch { report({ text: "the server does not answer; start cdcsim explore again.", line: null }, true); }
    asking = false;
    if (again) { again = false; ask(); }
  }

  function take(source, answer) {
    if (answer.system) facts.system = answer.system;
    if (answer.events) data.messages[source] = answer.events;
    report(answer.error, !answer.events);
    const main = document.getElementById("main");
    const places = [main, ...main.querySelectorAll(".scroll")].map((node) => [node.scrollTop, node.scrollLeft]);
    if (source === state.source && answer.system) {
      choose({});
      // other formats are offered by another system, which the scenario may name
      if (chosen().join() !== asked) again = true;
    }
    [main, ...main.querySelectorAll(".scroll")].forEach((node, i) => { if (places[i]) [node.scrollTop, node.scrollLeft] = places[i]; });
    if (!answer.error) status.textContent = answer.cut ? "Only the first events and messages are shown." : "The messages are those of this text.";
  }

  // The last good messages stay, in grey.
  function report(error, stale) {
    document.getElementById("main").classList.toggle("stale", Boolean(error) && stale);
    mistake.hidden = !error;
    mistake.replaceChildren();
    if (!error) return;
    mistake.append(el("p", {}, error.text));
    if (error.line) mistake.append(el("button", { type: "button", onclick: () => goTo(error.line) }, `Go to line ${error.line}`));
    status.textContent = stale ? "The messages are those of the last text without an error." : "The messages are those before the error.";
  }

  function goTo(line) {
    const lines = text.value.split("\n");
    const begin = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    text.focus();
    text.setSelectionRange(begin, begin + (lines[line - 1] ?? "").length);
    text.scrollTop = Math.max(0, text.scrollHeight * (line - 1) / lines.length - text.clientHeight / 2);
  }

  if (state.draft) takeShared(); else ask();
}
