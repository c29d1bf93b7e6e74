"use strict";
(async () => {
  const $ = (id) => document.getElementById(id);
  const packed = Uint8Array.from(atob($("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(stream).text());
  const formats = Object.keys(data.formats);
  const described = Object.fromEntries(
    formats.map((id) => [id, Object.fromEntries(data.formats[id].members.map((m) => [m.member, m]))]));

  // What is chosen; the address bar holds it, so that a view can be linked to.
  const state = { source: Object.keys(data.sources).includes("mysql") ? "mysql" : Object.keys(data.sources)[0],
    kind: "", event: "", base: data.base, formats: null, type: "", differing: "" };

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

  // The live page asks for the messages of the formats that are chosen; the others are offered all the same.
  function offered() {
    return formats.filter((id) => data.live ? data.formats[id].sources.includes(data.live.system) : data.messages[state.source][0].messages[id]);
  }
  function chosen() {
    const first = ["canal-json", "dts-canal-json", "drs-json", "oms-default", "cloudcanal-json"];
    const picked = state.formats ?? (offered().length > first.length ? first : offered()); // as many as fit a screen
    const shown = offered().filter((id) => picked.includes(id));
    const list = state.formats ? shown : shown.length ? shown : offered().slice(0, 4);
    return list.includes(state.base) ? [state.base, ...list.filter((id) => id !== state.base)] : list;
  }

  function checklist() {
    const now = chosen();
    const boxes = offered().map((id) => el("label", {}, el("input", { type: "checkbox", value: id, checked: now.includes(id),
      onchange: () => choose({ formats: [...document.querySelectorAll("#formats-list input:checked")].map((box) => box.value) }) }), id));
    const all = (list) => el("button", { type: "button", onclick: () => choose({ formats: list }) }, list.length ? "All" : "None");
    return el("fieldset", { id: "formats-list" }, el("legend", {}, "Formats"), ...boxes, all(offered()), " ", all([]));
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
        const meaning = described[id][name] ? described[id][name].meaning : "other";
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
    if (!kinds.includes(state.kind)) state.kind = "";
    const list = events();
    if (state.event === "" && list.length) state.event = String(Math.max(0, list.findIndex((e) => e.kinds.includes("insert"))));
    const event = list[Number(state.event)] ?? list[0];
    const ids = chosen().filter((id) => !event || event.messages[id]);
    main.append(el("h2", {}, "Messages"), el("div", { class: "controls" },
      select("Source system", "source", sources()),
      select("Kind of event", "kind", [["", "all"], ...kinds.map((kind) => [kind, kind])]),
      select("Event", "event", list.map((e, i) => [String(i), `${i + 1}. ${e.name}`])),
      select("Compare with", "base", ids.length ? [...ids].sort().map((id) => [id, id]) : [[state.base, state.base]]),
      select("Rows", "differing", [["", "all"], ["yes", "differences only"]])), checklist());
    if (!event) { main.append(el("p", { class: "count" }, "No events.")); return; }
    const most = Math.max(0, ...ids.map((id) => event.messages[id].filter(Boolean).length));
    const silent = ids.filter((id) => !event.messages[id].some(Boolean));
    main.append(el("p", { class: "count", id: "count" }, `${ids.length} formats, up to ${most} ${most === 1 ? "message" : "messages"} each; ≠ marks values that differ from those of ${ids[0] ?? "none"}` +
      (silent.length ? `; no message from ${silent.join(", ")}` : "")));
    // a format has null where its message of an earlier row has the change already
    for (let at = 0, number = 0; ids.length && at < event.messages[ids[0]].length; at++) {
      const there = ids.filter((id) => event.messages[id][at]);
      if (!there.length) continue;
      number++;
      const sent = Object.fromEntries(there.map((id) => [id, event.messages[id][at]]));
      const body = rows(sent).flatMap(([label, cells]) => {
        const base = words(cells[there[0]]);
        const differ = there.map((id) => words(cells[id]) !== base);
        if (state.differing && !differ.includes(true)) return [];
        return [el("tr", {}, el("th", { scope: "row" }, label), ...there.map((id, i) => cell(id, label, cells[id], differ[i])))];
      });
      main.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Message ${number} in each format` },
        el("table", { class: "messages" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, `message ${number}`),
          ...there.map((id) => el("th", { scope: "col" }, el("a", { href: "#format/" + encodeURIComponent(id) }, id))))), el("tbody", {}, ...body))));
    }
  }

  function cell(id, label, pairs, differs) {
    const node = el("td", { class: "message" + (differs ? " differs" : "") });
    if (!pairs) node.append(el("span", { class: "none" }, "not there"));
    for (const [name, text] of pairs ?? []) {
      if (label.startsWith("message ")) node.append(el("pre", {}, text));
      else node.append(member(id, name), el("pre", {}, indented(text)));
    }
    return node;
  }

  function member(id, name) {
    const tell = () => explain(id, name);
    return el("button", { type: "button", class: "member", onclick: tell, onmouseenter: tell, onfocus: tell }, name);
  }

  function explain(id, name) {
    const m = described[id][name];
    const field = $("field");
    field.replaceChildren(el("p", {}, el("strong", {}, name), ` in ${id}: ${m ? m.holds : "not described."}`),
      el("p", { class: "from" }, m ? `Meaning: ${m.meaning}. From: ${m.source} (${data.formats[id].spec}).` : ""));
    field.hidden = false;
  }
  document.addEventListener("keydown", (e) => { if (e.key === "Escape") $("field").hidden = true; });

  function indented(text) {
    if (!/^[[{]/.test(text) || text.length < 24) return text;
    let depth = 0, out = "";
    for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}[\],:]|[^\s{}[\],:"]+/g)) {
      if (token === "}" || token === "]") out += "\n" + "  ".repeat(--depth);
      out += token;
      if (token === "{" || token === "[") depth++;
      if (/^[{[,]$/.test(token)) out += "\n" + "  ".repeat(depth);
      else if (token === ":") out += " ";
    }
    return out;
  }

  // --------------------------------------------------------------------------------------------------------- events

  function viewEvents(main) {
    const options = [["", "all sources"], ...sources()];
    const source = state.eventSource ?? "";
    const broker = state.broker ?? "";
    const pick = (label, key, list, value) => el("label", {}, label, el("select", { id: "pick-" + key, onchange: (e) => choose({ [key]: e.target.value }) },
      ...list.map(([v, text]) => el("option", { value: v, selected: v === value }, text))));
    const list = formats.filter((id) => (!source || data.formats[id].sources.includes(source.replace(/-[\d.]+\w*$/, "")))
      && (!broker || data.formats[id].brokers.includes(broker)));
    const brokers = ["kafka", "rocketmq", "rabbitmq"];
    main.append(el("h2", {}, "Kinds of events"), el("div", { class: "controls" }, pick("Source system", "eventSource", options, source),
      pick("Broker", "broker", [["", "all brokers"], ...brokers.map((b) => [b, b])], broker)),
      el("p", { class: "count" }, `${list.length} formats. yes: sent; option: sent with an option; no: never sent; of several sources: what differs.`),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Kinds of events by format" }, el("table", {},
        el("thead", {}, el("tr", {}, ...["format", "product", ...brokers, ...data.kinds].map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, ...list.map((id) => el("tr", {}, el("th", { scope: "row" }, el("a", { href: "#format/" + encodeURIComponent(id) }, id)),
          el("td", {}, data.formats[id].product), ...brokers.map((b) => word(data.formats[id].brokers.includes(b) ? "yes" : "no")),
          ...data.kinds.map((kind) => word(of(data.formats[id].events[kind], source.replace(/-[\d.]+\w*$/, ""))))))))));
  }

  function of(events, source) {
    if (source) return events[source] ?? "no";
    const found = [...new Set(Object.values(events))];
    return found.length === 1 ? found[0] : Object.entries(events).filter(([, w]) => w !== "no").map(([s, w]) => w === "yes" ? s : `${s} (option)`).join(", ");
  }
  const word = (text) => el("td", { class: ["yes", "option", "no"].includes(text) ? text : "option" }, text);

  // ---------------------------------------------------------------------------------------------------------- types

  function viewTypes(main) {
    const types = data.types[state.source];
    const type = types.find((t) => t.type === state.type) ?? types[0];
    const ids = chosen();
    main.append(el("h2", {}, "Column types"), el("div", { class: "controls" }, select("Source system", "source", sources()),
      select("Column type", "type", types.map((t) => [t.type, t.type])),
      select("Compare with", "base", ids.length ? [...ids].sort().map((id) => [id, id]) : [[state.base, state.base]])), checklist(),
      el("p", { class: "count" }, `${type.values.length} boundary values of ${type.type}, as the database's client prints them and as each format writes them.`),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Boundary values by format" }, el("table", { class: "types" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, type.type), ...ids.map((id) => el("th", { scope: "col" }, el("a", { href: "#format/" + encodeURIComponent(id) }, id))))),
        el("tbody", {}, ...type.values.map((value, row) => el("tr", {}, el("th", { scope: "row" }, el("pre", {}, visible(value))),
          ...ids.map((id) => {
            const texts = type.texts[id];
            const base = type.texts[ids[0]];
            const text = texts ? texts[row] : "not supported";
            return el("td", { class: (base && texts && base[row] !== text ? "differs" : "") + (texts ? "" : " none") }, el("pre", {}, visible(text)));
          })))))));
  }
  // control characters and blanks that nobody sees
  const visible = (text) => text === "" ? "(empty)" : text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u200b\u2028\u2029\ufeff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

  // -------------------------------------------------------------------------------------------------------- formats

  function viewFormats(main) {
    main.append(el("h2", {}, "Formats"), el("ul", {}, ...formats.map((id) => el("li", {}, el("a", { href: "#format/" + encodeURIComponent(id) }, id),
      ` ${data.formats[id].title}, ${data.formats[id].product}`))));
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

  const views = { messages: viewMessages, events: viewEvents, types: data.live ? viewMessages : viewTypes, formats: viewFormats };
  function show() {
    const [view, ...rest] = (decodeURIComponent(location.hash.slice(1)) || "messages").split("/");
    const id = rest.join("/");
    const main = $("main");
    main.replaceChildren();
    $("field").hidden = true;
    for (const link of document.querySelectorAll("nav a")) {
      const current = link.hash === "#" + view || (view === "format" && link.hash === "#formats");
      if (current) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    if (view === "format" && data.formats[id]) viewFormat(main, id); else (views[view] ?? viewMessages)(main);
  }
  window.addEventListener("hashchange", () => { show(); scrollTo(0, 0); });
  $("theme").addEventListener("change", (e) => { document.documentElement.dataset.theme = e.target.value; });
  if (data.live) live(data, state, { el, choose, chosen });
  show();
  document.documentElement.dataset.ready = "yes";
})();
