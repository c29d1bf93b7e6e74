// The editor of `cdcsim explore`. The page shows the messages; this asks the server for them when the text changes.
function live(data, state, { el, choose, chosen }) {
  const pause = 350; // milliseconds after the last key
  const facts = data.live;
  const drafts = facts.drafts;
  // A reload keeps the text; the address of each server is another one, and its text, too.
  const storage = (name) => `${location.pathname}${name}`;
  for (const name of Object.keys(drafts)) drafts[name].text = sessionStorage.getItem(storage(name)) ?? drafts[name].text;
  let language = sessionStorage.getItem(storage("language")) ?? facts.language, timer = 0, asking = false, again = false, asked = "";

  const text = el("textarea", { id: "draft", spellcheck: "false", autocapitalize: "off", autocomplete: "off",
    maxlength: String(facts.characters), "aria-describedby": "state", oninput: () => { drafts[language].text = text.value; sessionStorage.setItem(storage(language), text.value); later(); } });
  const picker = el("select", { id: "language", onchange: () => { language = picker.value; sessionStorage.setItem(storage("language"), language); text.value = drafts[language].text; ask(); } },
    el("option", { value: "yaml" }, "a scenario in YAML"), el("option", { value: "sql" }, "a SQL script"));
  const mistake = el("div", { id: "mistake", role: "alert", hidden: true });
  const status = el("p", { id: "state", role: "status" });
  const label = el("label", { for: "draft" }, `The messages follow what you type: the first ${facts.changes} row changes. A reload keeps the text; no file is written.`);
  document.getElementById("main").before(el("section", { id: "editor", "aria-label": "Editor" }, el("h2", {}, "Scenario"),
    el("div", { class: "controls" }, el("label", {}, "Language", picker)), label, text, mistake, status));
  document.querySelector('nav a[href="#types"]').remove();
  document.title = document.querySelector("h1").textContent = `Explore ${data.scenario}`;
  picker.value = language;
  text.value = drafts[language].text;

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

  ask();
}
