"use strict";
(async () => {
  const $ = (id) => document.getElementById(id);
  const packed = Uint8Array.from(atob($("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(stream).text());
  const formats = Object.keys(data.formats);
  // Products in the order of their formats, each with a colour of the palette.
  const products = [...new Set(formats.map((id) => data.formats[id].product))];
  const hue = (product) => `--hue: var(--hue-${products.indexOf(product) % 8})`;
  const described = Object.fromEntries(
    formats.map((id) => [id, Object.fromEntries(data.formats[id].members.map((m) => [m.member, m]))]));

  // What a table says of a member; an option may take the outermost object away: `payload.after` is `after` then.
  const describedAs = (id, name) => described[id][name] ?? data.formats[id].members.find((m) => m.member.slice(m.member.indexOf(".") + 1) === name);

  // What is chosen: the address bar has what differs from the defaults, so that a view can be linked to and reloaded.
  const screen = matchMedia("(max-width: 600px)");
  const narrow = () => screen.matches;
  const defaults = { source: data.live ? "" : "mysql" in data.sources ? "mysql" : Object.keys(data.sources)[0], kind: "", event: "", base: data.base,
    formats: null, type: "", differing: "", sent: "indented", search: "", eventSource: "", broker: "", theme: "", draft: "" };
  const state = { ...defaults };
  let address = "messages"; // the view, and what of it: `format/dts-avro`
  function readAddress() {
    const [path, query] = location.hash.slice(1).split("?");
    if (query != null) {
      Object.assign(state, defaults);
      for (const [key, value] of new URLSearchParams(query)) if (key in state) state[key] = key === "formats" ? value.split(" ").filter(Boolean) : value;
      if (!(state.source in data.sources)) state.source = defaults.source;
    }
    address = decodeURIComponent(path) || "messages";
  }
  function writeAddress() {
    const chosen = Object.entries(state).filter(([key, value]) => value !== defaults[key]);
    const query = new URLSearchParams(chosen.map(([key, value]) => [key, key === "formats" ? value.join(" ") : value]));
    const path = address.split("/").map(encodeURIComponent).join("/");
    history.replaceState(null, "", "#" + path + (chosen.length ? "?" + query : ""));
  }

  function el(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== false && value != null) node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children);
    return node;
  }

  // ------------------------------------------------------------------------------------------------------- controls

  function select(label, key, options) {
    const picker = el("select", { id: "pick-" + key, onchange: (e) => choose({ [key]: e.target.value }) },
      ...options.map(([value, text]) => el("option", { value, selected: String(state[key]) === String(value) }, text)));
    return el("label", {}, label, picker);
  }
  const sources = () => Object.entries(data.sources).map(([id, title]) => [id, id ? `${id} (${title})` : title]);

  const head = (id) => el("th", { scope: "col", class: "format", style: hue(data.formats[id].product) },
    el("a", { href: "#format/" + encodeURIComponent(id) }, id), el("span", { class: "product" }, data.formats[id].product));

  // The live page asks for the messages of the formats that are chosen; the others are offered all the same.
  function offered() {
    return formats.filter((id) => data.live ? data.formats[id].sources.includes(data.live.system) : data.messages[state.source][0].messages[id]);
  }
  function chosen() {
    const first = ["canal-json", "dts-canal-json", "drs-json", "oms-default", "cloudcanal-json"];
    const picked = state.formats ?? (offered().length > first.length ? first.slice(0, narrow() ? 2 : undefined) : offered());
    const shown = offered().filter((id) => picked.includes(id));
    const list = state.formats ? shown : shown.length ? shown : offered().slice(0, 4);
    const ordered = list.includes(state.base) ? [state.base, ...list.filter((id) => id !== state.base)] : list;
    return narrow() ? ordered.slice(0, 2) : ordered; // as many as fit a screen
  }

  const folded = {}; // groups that the reader opened or closed
  function checklist() {
    const now = chosen();
    const box = (id) => el("label", {}, el("input", { type: "checkbox", value: id, checked: now.includes(id),
      onchange: () => choose({ formats: [...document.querySelectorAll("#formats-list input:checked")].map((box) => box.value) }) }), id);
    const groups = products.map((product) => [product, offered().filter((id) => data.formats[id].product === product)]).filter(([, ids]) => ids.length);
    const all = (list) => el("button", { type: "button", onclick: () => choose({ formats: list }) }, list.length ? "All" : "None");
    return el("fieldset", { id: "formats-list" }, el("legend", {}, "Formats, by product"), el("div", { class: "groups" }, ...groups.map(([product, ids]) =>
      el("details", { style: hue(product), open: folded[product] ?? false, ontoggle: (e) => { folded[product] = e.target.open; } },
        el("summary", {}, product, el("span", { class: "of" }, ` ${ids.filter((id) => now.includes(id)).length} of ${ids.length}`)), ...ids.map(box)))),
      all(offered()), " ", all([]));
  }

  // Two formats fit a narrow screen: these.
  function pair() {
    const now = chosen(), other = (i) => now[1 - i];
    const picker = (label, i) => el("label", {}, label, el("select", { id: i ? "pick-right" : "pick-left", onchange: (e) => {
      const both = i ? [now[0], e.target.value] : [e.target.value, now[1]];
      choose({ formats: both.filter(Boolean), base: both[0] ?? both[1] });
    } }, ...products.map((product) => [product, offered().filter((id) => data.formats[id].product === product)]).filter(([, ids]) => ids.length).map(([product, ids]) =>
      el("optgroup", { label: product }, ...ids.map((id) => el("option", { value: id, selected: id === now[i], disabled: id === other(i) }, id))))));
    return el("div", { class: "controls pair" }, picker("Compare", 0), picker("with", 1));
  }

  function choose(changes) {
    const focused = document.activeElement && (document.activeElement.id || document.activeElement.value);
    const box = document.activeElement && document.activeElement.type === "checkbox";
    Object.assign(state, changes);
    if ("source" in changes || "kind" in changes) { state.event = ""; state.type = ""; }
    show();
    const again = box ? document.querySelector(`#formats-list input[value="${focused}"]`) : focused && $(focused);
    if (again) again.focus();
    if (data.live) data.live.chosen(changes);
  }

  // ------------------------------------------------------------------------------------------------------- messages

  function events() { return data.messages[state.source].filter((e) => !state.kind || e.kinds.includes(state.kind)); }

  function rows(messages) {
    // what stands where: for each format the members of its message by what they mean
    const cells = Object.fromEntries(Object.entries(messages).map(([id, message]) => {
      const parts = {};
      for (const [name, text] of message.address) parts["message " + name] = [[name, text]];
      for (const [name, text] of message.members) {
        const meaning = describedAs(id, name)?.meaning ?? "other";
        (parts[meaning] ??= []).push([name, text]);
      }
      return [id, parts];
    }));
    const order = (label) => label.startsWith("message ") ? -1 : data.meanings.indexOf(label);
    const labels = [...new Set(Object.values(cells).flatMap(Object.keys))].sort((a, b) => order(a) - order(b));
    return labels.map((label) => [label, Object.fromEntries(Object.entries(cells).map(([id, parts]) => [id, parts[label]]))]);
  }

  // what is compared: values; names differ from format to format
  const words = (pairs) => (pairs ?? [["", "not there"]]).map(([, text]) => text).join("\n");

  function viewMessages(main) {
    const kinds = [...new Set(data.messages[state.source].flatMap((e) => e.kinds))];
    if (kinds.length && !kinds.includes(state.kind)) state.kind = ""; // the live page begins without messages
    const list = events();
    const event = list[Number(state.event || Math.max(0, list.findIndex((e) => e.kinds.includes("update"))))] ?? list[0];
    const ids = chosen().filter((id) => !event || event.messages[id]);
    const choices = el("details", { id: "choices", open: folded.choices ?? !narrow(), ontoggle: (e) => { folded.choices = e.target.open; } },
      el("summary", {}, narrow() ? "Source, rows and search" : "Source, formats and rows"), el("div", { class: "controls" },
        select("Source system", "source", sources()),
        select("Kind of event", "kind", [["", "all"], ...kinds.map((kind) => [kind, kind])]),
        ...(narrow() ? [] : [select("Compare with", "base", ids.length ? [...ids].sort().map((id) => [id, id]) : [[state.base, state.base]])]),
        select("Message as sent", "sent", [["indented", "indented"], ["raw", "byte for byte"], ["hidden", "hidden"]]),
        select("Rows", "differing", [["", "all"], ["yes", "differences only"]]),
        el("label", {}, "Search members and meanings", el("input", { type: "search", id: "search", value: state.search,
          oninput: (e) => { state.search = e.target.value; writeAddress(); search(); } }))), ...(narrow() ? [] : [checklist()]));
    main.append(el("h2", {}, "Messages"), el("p", { class: "intro" }, "One change, and the message that each product sends about it. Choose a step and formats; point at a member to read what it holds."));
    if (event) {
      const timeline = el("ol", { id: "timeline", "aria-label": "Steps of the scenario" }, ...list.map((e, i) => el("li", {}, el("button", { type: "button", id: "step-" + i,
        "aria-current": e === event && "step", title: e.name, onclick: () => choose({ event: String(i) }) }, e.step ?? e.name))));
      main.append(el("div", { class: "change" }, ...(event.statement ? [copy(event.statement, "Copy the statement", "Copy"),
        el("pre", { class: "statement", tabindex: "0", role: "region", "aria-label": "The statement" }, ...coloured(event.statement, "sql", el))] : []),
        ...(event.change === event.statement ? [] : [el("pre", { class: "words", tabindex: "0", role: "region", "aria-label": "The change" }, event.change)])), timeline);
      const left = (node) => node.getBoundingClientRect().left;
      timeline.scrollLeft = left(timeline.querySelector("[aria-current]")) - left(timeline) - 24; // where the steps are one line
    }
    if (narrow()) main.append(pair());
    main.append(choices);
    if (!event) { main.append(el("p", { class: "count" }, "No events.")); return; }
    const most = Math.max(0, ...ids.map((id) => event.messages[id].filter(Boolean).length));
    const silent = ids.filter((id) => !event.messages[id].some(Boolean));
    main.append(el("p", { class: "count", id: "count" }, `${event.name}: ${ids.length} formats, up to ${most} ${most === 1 ? "message" : "messages"} each` +
      (silent.length ? `; no message from ${silent.join(", ")}` : "") + "."));
    if (ids.length > 1) main.append(el("p", { class: "legend" }, el("mark", {}, "Marked"), ` and ≠: differs from ${ids[0]}. `, el("span", { class: "note" }, "In italics"),
      ": how names, order and shape differ. ", el("span", { class: "none" }, "not there"), ": the format has no such member. The coloured edge is the product's."));
    if (ids.length) main.append(snippets(ids[0], event));
    // a format has null where its message of an earlier row has the change already
    for (let at = 0, number = 0; ids.length && at < event.messages[ids[0]].length; at++) {
      const there = ids.filter((id) => event.messages[id][at]);
      if (!there.length) continue;
      number++;
      const sent = Object.fromEntries(there.map((id) => [id, event.messages[id][at]]));
      const body = rows(sent).flatMap(([label, cells]) => {
        const base = words(cells[there[0]]);
        if (state.differing && there.every((id) => words(cells[id]) === base)) return [];
        const found = there.flatMap((id) => (cells[id] ?? []).flatMap(([name]) => [name, describedAs(id, name)?.holds ?? ""]));
        return [el("tr", { "data-words": [label, ...found].join(" ").toLowerCase() }, el("th", { scope: "row" }, label),
          ...there.map((id) => cell(id, label, cells[id], cells[there[0]], words(cells[id]) !== base, there[0])))];
      });
      if (state.sent !== "hidden") body.unshift(el("tr", {}, el("th", { scope: "row" }, "message as sent"), ...there.map((id) => whole(id, sent[id]))));
      main.append(el("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": `Message ${number} in each format` },
        el("table", { class: "messages", style: `--columns: ${there.length}` }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, `message ${number}`),
          ...there.map(head))), el("tbody", {}, ...body))));
    }
    search();
  }

  function search() {
    const wanted = state.search.trim().toLowerCase();
    for (const row of document.querySelectorAll("tr[data-words]")) row.hidden = !row.dataset.words.includes(wanted);
  }

  // The value of a message as its consumer gets it; of bytes their text and their hexadecimal digits.
  function whole(id, message) {
    if (message.value == null) return el("td", { class: "message" }, el("span", { class: "none" }, "no value: a tombstone"));
    const text = state.sent === "raw" ? message.value : indented(message.value);
    const box = (text, name, more = "") => el("pre", { class: "sent" + more, tabindex: "0", role: "region", "aria-label": name }, text);
    return el("td", { class: "message" }, copy(message.value, message.hex ? `Copy decoded ${id}` : `Copy ${id}`, message.hex ? "Copy decoded" : "Copy"),
      ...(message.hex ? [copy(message.hex, `Copy hex ${id}`, "Copy hex")] : []),
      el("div", { class: "both" }, box(text, `Value of ${id}`), ...(message.hex ? [box(hexdump(message.hex), `Bytes of ${id}`, " hex")] : [])));
  }
  function copy(text, name, label) {
    const button = el("button", { type: "button", class: "copy", "aria-label": name, onclick: async () => {
      try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { button.textContent = "Select the text"; }
      setTimeout(() => { button.textContent = label; }, 1500);
    } }, label);
    return button;
  }

  function cell(id, label, pairs, base, differs, first) {
    const node = el("td", { class: "message" });
    if (!pairs) node.append(el("span", { class: "none" }, "not there"));
    const notes = [], missing = [];
    let marked = !pairs && differs;
    (pairs ?? []).forEach(([name, text], i) => {
      const other = base?.[i], result = differs ? compared(text, other ? other[1] : "") : { pieces: pieces(text), missing: [], note: "" };
      if (!label.startsWith("message ")) node.append(member(id, name));
      if (other && other[0] !== name) node.append(el("span", { class: "note" }, `called ${other[0]} in ${first}`));
      node.append(el("pre", {}, ...result.pieces.flatMap((p) => p.to ? [p.text.slice(0, p.from), el("mark", {}, p.text.slice(p.from, p.to)), p.text.slice(p.to)] : [p.text])));
      if (result.note) notes.push(result.note);
      missing.push(...result.missing);
      marked ||= result.missing.length > 0 || result.pieces.some((p) => p.to);
    });
    if (differs && (base?.length ?? 0) > (pairs?.length ?? 0) && pairs) { missing.push(...base.slice(pairs.length).map(([name]) => name)); marked = true; }
    if (missing.length) notes.push(`without ${missing.join(", ")}`);
    for (const note of notes) node.append(el("span", { class: "note" }, note));
    if (marked) node.classList.add("differs");
    return node;
  }

  // The shell's quotes where a word needs them.
  const word = (text) => /^[\w./:=,@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

  // The same messages from a terminal and in a test.
  function snippets(id, event) {
    const scenario = data.live ? data.live.file() : data.scenario, script = scenario.endsWith(".sql");
    const name = scenario.replace(/^scenarios\/(.*)\.yaml$/, "$1"); // a shipped one
    const command = (verb, more) => ["cdcsim", verb, word(name), "-f", id, ...(state.source ? ["--source", state.source] : []), ...more].join(" ");
    const fixture = [JSON.stringify(name), JSON.stringify(id), ...(state.source ? [`source=${JSON.stringify(state.source)}`] : []), ...(script ? [] : ["limit=100"])];
    const shown = (title, text) => el("details", { class: "snippet", open: folded[title], ontoggle: (e) => { folded[title] = e.target.open; } },
      el("summary", {}, title), copy(text, `Copy ${title.toLowerCase()}`, "Copy"), el("pre", { tabindex: "0", role: "region", "aria-label": title }, text));
    return el("div", { class: "snippets" },
      shown("As a command", command("run", script ? [] : ["--limit", "100"]) + (event.step ? "\n" + command("show", ["--step", word(event.step)]) : "")),
      shown("As a pytest fixture", `# test_consumer.py, run by pytest in the folder of the scenario
import pytest


@pytest.mark.cdc(${fixture.join(", ")})
def test_consumer(cdc):
    for message in cdc.messages:
        ...  # give message.key and message.value to your consumer
    # then compare its rows: cdc.assert_rows("shop.orders", rows)
`));
  }

  function member(id, name) {
    const tell = () => explain(id, name);
    return el("button", { type: "button", class: "member", onclick: tell, onmouseenter: tell, onfocus: tell }, name);
  }

  function explain(id, name) {
    const m = describedAs(id, name);
    const field = $("field");
    field.replaceChildren(el("p", {}, el("strong", {}, name), ` in ${id}: ${m ? m.holds : "not described."}`),
      el("p", { class: "from" }, m ? `Meaning: ${m.meaning}. From: ${m.source} (${data.formats[id].spec}).` : ""));
    field.hidden = false;
  }
  document.addEventListener("keydown", (e) => { if (e.key === "Escape") $("field").hidden = true; });

  // --------------------------------------------------------------------------------------------------------- events

  function viewEvents(main) {
    const options = [["", "all sources"], ...sources()];
    const { eventSource: source, broker } = state;
    const pick = (label, key, list, value) => el("label", {}, label, el("select", { id: "pick-" + key, onchange: (e) => choose({ [key]: e.target.value }) },
      ...list.map(([v, text]) => el("option", { value: v, selected: v === value }, text))));
    const list = formats.filter((id) => (!source || data.formats[id].sources.includes(source.replace(/-[\d.]+\w*$/, "")))
      && (!broker || data.formats[id].brokers.includes(broker)));
    const brokers = ["kafka", "rocketmq", "rabbitmq"];
    main.append(el("h2", {}, "Kinds of events"), el("div", { class: "controls" }, pick("Source system", "eventSource", options, source),
      pick("Broker", "broker", [["", "all brokers"], ...brokers.map((b) => [b, b])], broker)),
      el("p", { class: "count" }, `${list.length} formats. yes: sent; option: sent with an option; no: never sent; of several sources: what differs.`),
      el("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Kinds of events by format" }, el("table", {},
        el("thead", {}, el("tr", {}, ...["format", "product", ...brokers, ...data.kinds].map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, ...list.map((id) => el("tr", {}, el("th", { scope: "row" }, el("a", { href: "#format/" + encodeURIComponent(id) }, id)),
          el("td", {}, data.formats[id].product), ...brokers.map((b) => sends(data.formats[id].brokers.includes(b) ? "yes" : "no")),
          ...data.kinds.map((kind) => sends(of(data.formats[id].events[kind], source.replace(/-[\d.]+\w*$/, ""))))))))));
  }

  function of(events, source) {
    if (source) return events[source] ?? "no";
    const found = [...new Set(Object.values(events))];
    return found.length === 1 ? found[0] : Object.entries(events).filter(([, w]) => w !== "no").map(([s, w]) => w === "yes" ? s : `${s} (option)`).join(", ");
  }
  const sends = (text) => el("td", { class: ["yes", "option", "no"].includes(text) ? text : "option" }, text);

  // ---------------------------------------------------------------------------------------------------------- types

  function viewTypes(main) {
    const system = state.source || data.live.system, types = data.types[system];
    if (!types) {
      main.append(el("h2", {}, "Column types"), el("p", { class: "count" }, "Making values …"));
      data.live.types(system);
      return;
    }
    const type = types.find((t) => t.type === state.type) ?? types[0];
    const ids = chosen();
    main.append(el("h2", {}, "Column types"), el("div", { class: "controls" }, select("Source system", "source", sources()),
      select("Column type", "type", types.map((t) => [t.type, t.type])),
      ...(narrow() ? [] : [select("Compare with", "base", ids.length ? [...ids].sort().map((id) => [id, id]) : [[state.base, state.base]])])),
      narrow() ? pair() : checklist(), el("p", { class: "count" }, `${type.values.length} boundary values of ${type.type}, as the database's client prints them and as each format writes them.`),
      el("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Boundary values by format" }, el("table", { class: "types" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, type.type), ...ids.map(head))),
        el("tbody", {}, ...type.values.map((value, row) => el("tr", {}, el("th", { scope: "row" }, el("pre", {}, visible(value))),
          ...ids.map((id) => {
            const texts = type.texts[id];
            const base = type.texts[ids[0]];
            const text = texts ? texts[row] : "not supported";
            const differs = base && texts && base[row] !== text, marked = differs ? differing(visible(text), visible(base[row])) : { from: 0, to: 0 };
            const parts = (t) => [t.slice(0, marked.from), ...(differs ? [el("mark", {}, t.slice(marked.from, marked.to))] : []), t.slice(marked.to)];
            return el("td", { class: (differs ? "differs" : "") + (texts ? "" : " none") }, el("pre", {}, ...parts(visible(text))));
          })))))));
  }
  // control characters and blanks that nobody sees
  const visible = (text) => text === "" ? "(empty)" : text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u200b\u2028\u2029\ufeff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

  // -------------------------------------------------------------------------------------------------------- formats

  function viewFormats(main) {
    main.append(el("h2", {}, "Formats"), ...products.flatMap((product) => [el("h3", { class: "product", style: hue(product) }, product),
      el("ul", {}, ...formats.filter((id) => data.formats[id].product === product).map((id) =>
        el("li", {}, el("a", { href: "#format/" + encodeURIComponent(id) }, id), `: ${data.formats[id].title}`)))]));
  }

  function viewFormat(main, id) {
    const f = data.formats[id];
    const grid = (name, head, list) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, el("table", {},
      el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, ...list.map(([first, ...rest]) => el("tr", {}, el("th", { scope: "row" }, el("code", {}, first)), ...rest.map((t) => el("td", {}, ...inline(t))))))));
    main.append(el("h2", {}, `${f.id}: ${f.title}`), el("dl", {}, ...[["Product", f.product], ["Described in", f.spec], ["Sources", f.sources.join(", ")],
      ["Brokers", f.brokers.join(", ")], ["Sends", f.sends.join(", ")], ["Silent", f.silent.join(", ") || "nothing"],
      ["Value", f.binary ? "binary (Avro)" : "text (JSON)"]].flatMap(([t, d]) => [el("dt", {}, t), el("dd", {}, d)])),
      el("h3", {}, "Options"), f.options.length ? grid("Options", ["option", "default", "choices", "what it does"],
        f.options.map((o) => [o.name, o.default ?? "by source", o.choices.join(", "), o.doc])) : el("p", {}, "It has none."),
      el("h3", {}, "Members"), grid("Members", ["member", "meaning", "holds", "from"], f.members.map((m) => [m.member, m.meaning, m.holds, m.source])),
      el("h3", {}, "What to know"), notes(f.notes));
  }

  // The notes are written as text with tables, lists and back-quoted code.
  function notes(text) {
    const box = el("div", { class: "notes" });
    for (const block of text.split(/\n\n+/)) {
      const lines = block.split("\n");
      const table = lines.filter((line) => line.startsWith("|"));
      const before = lines.slice(0, lines.findIndex((line) => line.startsWith("|") || line.startsWith("* ")));
      if (table.length > 1) {
        if (before.length && !lines[0].startsWith("|")) box.append(el("p", {}, ...inline(before.join(" "))));
        const cells = table.filter((line) => !/^\|[\s|-]+$/.test(line)).map((line) => line.split("|").slice(1, -1).map((c) => c.trim()));
        box.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" }, el("table", {}, el("tbody", {},
          ...cells.map((row) => el("tr", {}, ...row.map((c) => el("td", {}, ...inline(c)))))))));
      } else if (lines.some((line) => line.startsWith("* "))) {
        if (!lines[0].startsWith("* ")) box.append(el("p", {}, ...inline(before.join(" "))));
        const items = block.slice(block.indexOf("* ")).split(/\n?^\* /m).filter(Boolean);
        box.append(el("ul", {}, ...items.map((item) => el("li", {}, ...inline(item.replace(/\s*\n\s*/g, " "))))));
      } else if (/^\s{4}/.test(block)) box.append(el("pre", {}, block));
      else box.append(el("p", {}, ...inline(lines.join(" "))));
    }
    return box;
  }
  const inline = (text) => text.split(/`([^`]+)`/).map((part, i) => i % 2 ? el("code", {}, part) : part);

  // ----------------------------------------------------------------------------------------------------------- views

  const views = { messages: viewMessages, events: viewEvents, types: viewTypes, formats: viewFormats };
  function show() {
    const [view, ...rest] = address.split("/");
    const id = rest.join("/");
    document.documentElement.dataset.theme = $("theme").value = state.theme;
    const main = $("main");
    main.replaceChildren();
    $("field").hidden = true;
    for (const link of document.querySelectorAll("nav a")) {
      const current = link.hash === "#" + view || (view === "format" && link.hash === "#formats");
      if (current) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    if (view === "format" && data.formats[id]) viewFormat(main, id); else (views[view] ?? viewMessages)(main);
    writeAddress();
  }
  window.addEventListener("hashchange", () => { readAddress(); show(); scrollTo(0, 0); });
  screen.addEventListener("change", () => show());
  $("theme").addEventListener("change", (e) => choose({ theme: e.target.value }));
  readAddress();
  if (data.live) live(data, state, { el, choose, chosen, writeAddress, show });
  show();
  document.documentElement.dataset.ready = "yes";
})();
