// The page of `promptc serve`: its requests, and everything that it shows except the prompt itself, which draw.js draws.
"use strict";

const base = location.pathname;
const asked = { shown: null, tries: new Map(), variants: {}, patches: [], format: "" };
let start = null, view = null, controls = null, other = null, notch = null, line = null, sliding = false, drawn = null;

// --- the page as one file: it contains the answers (workshop/page.py) ---

const made = at("made") ? JSON.parse(at("made").textContent) : null;
const keyOf = (body) => JSON.stringify([body.shown, body.pack || "", body.tries || []]);
const answers = new Map(made ? made.views.map((one) => [keyOf(one.asked), one.view]) : []);
const NOTHING = { failed: true, findings: [] };

function answer(name, body) {
  const told = {
    start: () => made.start,
    view: () => answers.get(keyOf(body)) || NOTHING,
    compare: () => (body.new.tries.length ? null : made.compared.find((one) => one.shown === body.old.shown && one.shown === body.new.shown && one.pack === body.old.pack)),
    session: () => made.sessions.find((one) => one.session === start.shown.find((turn) => turn.id === body.shown).session),
    goldens: () => ({ goldens: [] }),
  };
  const found = told[name] && told[name]();
  return found ? found.found || found : NOTHING;
}

async function post(name, body) {
  if (made) return answer(name, body);
  const got = await fetch(base + name, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
  if (!got.ok) throw new Error(await got.text());
  return got.json();
}

function wanted() {
  const variants = Object.fromEntries(Object.entries(asked.variants).filter(([, one]) => one));
  return { shown: asked.shown, tries: [...asked.tries], variants, patches: asked.patches, format: asked.format || null };
}

function besideOf(kind) {
  const own = wanted();
  if (kind === "file") return { ...own, tries: [], variants: {}, patches: [], format: null };
  if (kind.startsWith("pack:")) return { ...own, tries: [], pack: kind.slice(5) };
  return { ...own, tries: made ? [] : own.tries, shown: kind.slice(6) };
}

// --- requests: one at a time, in this order, and only the newest of each kind ---

const STEPS = { write: confirmWrite, preview: previewWrite, start: askStart, view: askView, check: askCheck, session: askSession, compare: askCompared, goldens: askGoldens };
const due = new Set();
let running = false;

/** Runs any other request. Shows its failure as for the steps above. */
async function attempt(work) {
  try { return await work(); } catch (error) { at("live").textContent = `No answer: ${error.message}`; return null; }
}

async function ask(...names) {
  names.forEach((one) => due.add(one));
  if (running) return;
  running = true;
  at("prompts").setAttribute("aria-busy", "true");
  try {
    while (due.size) {
      const name = Object.keys(STEPS).find((one) => due.has(one));
      due.delete(name);
      await STEPS[name]();
    }
    at("live").textContent = "";
  } catch (error) {
    due.clear();
    at("live").textContent = `No answer: ${error.message}`;
  } finally {
    running = false;
    at("prompts").setAttribute("aria-busy", "false");
  }
}

/** Requests everything, when the page is opened and when files have changed. */
const begin = () => ask("start", "view", "check", "session", "compare", "goldens");

async function askStart() {
  const got = await post("start", {});
  start = got.failed ? { shown: [], against: [] } : got;  // the view says why
  if (made) { known = made.known; controls = made.controls; }
  besides.clear();
  measured = "";
  fillPickers();
}

const besides = new Map();

/** Requests a view, or returns the one in `seen` if the last request was the same. */
async function viewOf(body, seen) {
  const key = JSON.stringify(body);
  if (seen && seen.has(key)) return seen.get(key);
  const got = take(await post("view", { ...body, known: [known.turn, known.values.length] }));
  if (seen) seen.clear();
  if (seen) seen.set(key, got);
  return got;
}

async function askView() {
  const beside = at("beside").value;
  dropTries();
  const own = wanted(), next = await viewOf(own);
  if (next.failed && asked.tries.size && next.findings.some((one) => one.code === "PC0718")) {
    asked.tries.clear();
    at("said").textContent = "The pack has no place any more for a value that you tried: here is the pack with the values of its file.";
    return askView();
  }
  show(next, beside ? await viewOf(besideOf(beside), besides) : null, own.shown);
}

/** Drops a tried value of the page as one file if the chosen state was not rendered with it. */
function dropTries() {
  if (!made || asked.tries.size === 0 || answers.has(keyOf(wanted()))) return;
  asked.tries.clear();
  at("said").textContent = "This page has no prompt of this state with the value that you tried: here is the state with the values of the file.";
}

/** Checks the pack itself. Later views include the findings. */
async function askCheck() {
  const found = await post("check", {});
  if (found.count) await askView();
}

/** Shows the view of a state. If nothing can be rendered, the last prompt stays while it is one of the same state. */
function show(next, second, shown) {
  view = next; other = second;
  if (next.controls) controls = next.controls;
  for (const one of controls ? controls.sliders : []) if (asked.tries.get(one.path) === one.value + one.unit) asked.tries.delete(one.path);
  drawFindings(); drawChanges();
  document.body.dataset.ready = next.failed ? "failed" : String(Number(document.body.dataset.ready || 0) + 1 || 1);
  at("total").className = next.failed || next.tokens === null ? "bad" : "";
  if (next.failed) at("total").textContent = "Nothing can be rendered"; else drawHead();
  if (next.failed && shown === drawn) return;
  drawn = shown;
  at("tokens").hidden = next.failed === true;
  if (next.failed) clearSections(); else if (!sliding) drawControls(); else updateRows();
  drawStrain(); drawLadder(); drawPrompts();
}

function clearSections() {
  at("sections").replaceChildren();
  if (controls) drawSwitches();
}

// --- head, strain, sections ---

function drawHead() {
  at("title").textContent = `${view.pack} ${view.version}`;
  document.title = `${view.pack} ${view.version} · promptc`;
  const format = view.format === "text" ? "Text" : "Messages", kind = view.provider ? `${format} for ${view.provider}` : format;
  const model = view.model ? `, with the window of ${view.model}` : "";
  const counted = `${kind}, counted by ${view.counter}${view.exact ? "" : " (an estimate)"}${model}`;
  at("total").replaceChildren(h("b", {}, view.tokens === null
    ? `${view.lack[0].toUpperCase()}${view.lack.slice(1)}.`
    : `${count(view.tokens)} of ${plural(view.budget, "token")}, ${percent(view.tokens, view.budget)} %.`), ` ${counted}`);
}

function bar(parts, label) {
  const drawn = h("div", { className: "bar", role: "img", "aria-label": label });
  for (const [kind, from, wide] of parts) {
    drawn.append(h("i", { className: kind, vars: { "--from": `${from}%`, "--wide": `${Math.max(0, wide)}%` } }));
  }
  return drawn;
}

function drawStrain() {
  const strain = view.strain;
  at("strain").hidden = !strain;
  if (!strain) return;
  const now = percent(strain.spent, strain.allowed), most = Math.max(100, now);
  const place = strain.tiers.findIndex((one) => one.name === strain.tier);
  const ticks = strain.tiers.filter((one) => one.at > 0).map((one) => ["tick", (100 * one.at) / most, 0.4]);
  const label = `${strain.tier}, ${now} %: ${count(strain.spent)} of ${count(strain.allowed)} tokens`;
  const later = strain.later === strain.spent ? "" : `; ${percent(strain.later, strain.allowed)} % after its steps`;
  at("strain-body").replaceChildren(
    h("p", {}, label + later),
    h("div", { vars: { "--hue": 140 - (110 * place) / Math.max(1, strain.tiers.length - 1) } }, bar([["held", 0, (100 * now) / most], ...ticks], label)),
    h("ul", { className: "tiers" }, ...strain.tiers.map((one) =>
      h("li", { className: one.name === strain.tier ? "now" : "" }, `${one.name} from ${one.at} %${one.leave < one.at ? `, left under ${one.leave} %` : ""}`))),
  );
}

function describeRow(one) {
  const cap = one.cap === null ? "" : one.unit === "characters" ? ` / ${count(one.cap)} characters` : ` / ${count(one.cap)}`;
  const held = one.unit === "characters" && one.cap !== null ? count(one.chars || 0) : count(one.held);
  return held + cap;
}

function rowParts(one, most) {
  const scale = Math.max(most, 1), held = (100 * one.held) / scale;
  const lost = (100 * Math.max(0, Math.min(one.wanted, scale) - one.held)) / scale;
  const parts = [["held", 0, held], ["lost", held, lost]];
  if (one.cap !== null && one.unit === "tokens" && one.cap <= scale) parts.push(["tick", (100 * one.cap) / scale, 0.4]);
  return parts;
}

function scaleOf() {
  const held = Math.max(1, ...view.sections.map((one) => one.held));
  return Math.max(held, ...view.sections.map((one) => Math.min(Math.max(one.wanted, one.cap && one.unit === "tokens" ? one.cap : 0), 3 * held)));
}

const GUARDED = { replace_hidden: "was replaced by U+FFFD", escape: "was escaped", keep: "was kept", reject: "was rejected" };
const MOST_GUARDED = 4;

/** Tells what the guard found in a section and nobody sees: invisible characters, and text that looks like a fence or a token. */
function guardedIn(name) {
  const found = view.guarded.filter((one) => one.section === name);
  const told = found.slice(0, MOST_GUARDED).map((one) => `${one.kind.replace(/_/g, " ")} ${one.text} ${GUARDED[one.policy]}${one.count > 1 ? ` ${plural(one.count, "time")}` : ""}`);
  if (found.length > MOST_GUARDED) told.push(`${count(found.length - MOST_GUARDED)} more`);
  return told.length ? h("p", { className: "note" }, told.join(" · ")) : null;
}

function rowBody(one, most) {
  const notes = [];
  if (one.state !== "present") notes.push(one.wanted && !one.held && one.state === "empty" ? "all cut" : one.state);
  else if (one.pinned) notes.push("pinned");
  if (one.items) notes.push(`${count(one.items[0])} of ${plural(one.items[1], "item")}`);
  if (one.wanted > one.held) notes.push(`wanted ${count(one.wanted)}${one.is_more ? " or more" : ""}`);
  for (const [stage, number] of Object.entries(one.left_out)) notes.push(`${count(number)} left out by ${stage}`);
  const label = `${one.id}: ${plural(one.held, "token")}${one.cap === null ? "" : `, cap ${count(one.cap)} ${one.unit}`}, wanted ${count(one.wanted)}`;
  const found = (view.findings || []).filter((found) => found.section === one.id).map(foldFinding);
  return [
    h("div", { className: "head" }, h("span", { className: "chip" }), h("b", {}, one.id), h("span", { className: "num" }, describeRow(one))),
    bar(rowParts(one, most), label), notes.length ? h("p", { className: "note" }, notes.join(" · ")) : null, guardedIn(one.id), ...found,
  ].filter(Boolean);
}

/** Draws what the sections of a pool take together, on a scale of its own. */
function poolBody(one) {
  const most = Math.max(1, one.grant, Math.min(one.demand, 3 * one.grant));
  const label = `pool ${one.id}: ${plural(one.charge, "token")}, cap ${count(one.grant)} tokens, wanted ${count(one.demand)}`;
  const wanted = one.demand > one.charge ? ` · wanted ${count(one.demand)}` : "";
  return [
    h("div", { className: "head" }, h("b", {}, `pool ${one.id}`), h("span", { className: "num" }, `${count(one.charge)} / ${count(one.grant)}`)),
    bar(rowParts({ held: one.charge, wanted: one.demand, cap: one.grant, unit: "tokens" }, most), label),
    h("p", { className: "note" }, `${one.sections.join(", ")} together${wanted}`),
  ];
}

/** Draws what the total has besides its sections, so that the rows add up to it. */
function restBody() {
  const told = view.rest.map(([name, tokens]) => (name === "shared" ? `shared: ${tokens > 0 ? "+" : "−"}${count(Math.abs(tokens))}` : `${name}: ${plural(tokens, "token")}`));
  return told.length ? [h("p", { className: "note", title: "Shared is what messages have in common, and tokens where pieces meet." }, told.join(" · "))] : [];
}

function drawControls() {
  const most = scaleOf(), body = at("sections"), focused = document.activeElement && document.activeElement.dataset.path;
  const slidersOf = (kind, name) => controls.sliders.filter((one) => one[kind] === name).map(drawSlider);
  const total = controls.sliders.filter((one) => !one.section && !one.pool).map(drawSlider);
  const rows = [h("div", { className: "row" }, ...total, view.own_budget ? h("p", { className: "note", id: "own" }, `The case sets the whole budget to ${plural(view.budget, "token")}. The sliders here do not change it.`) : "")];
  for (const one of view.pools) rows.push(h("div", { className: "row", "data-pool": one.id }, h("div", { className: "facts" }, ...poolBody(one)), ...slidersOf("pool", one.id)));
  for (const one of view.sections) rows.push(h("div", { className: "row", "data-section": one.id, vars: { "--hue": hue(one.id) } }, h("div", { className: "facts" }, ...rowBody(one, most)), ...slidersOf("section", one.id)));
  rows.push(h("div", { className: "row", "data-rest": "" }, h("div", { className: "facts" }, ...restBody())));
  body.replaceChildren(...rows);
  if (focused) { const back = body.querySelector(`[data-path="${CSS.escape(focused)}"]`); if (back) back.focus(); }
  drawSwitches();
}

function updateRows() {
  const most = scaleOf();
  const update = (kind, one, body) => {
    const row = at("sections").querySelector(`[data-${kind}="${CSS.escape(one.id)}"] .facts`);
    if (row) row.replaceChildren(...body);
  };
  for (const one of view.pools) update("pool", one, poolBody(one));
  update("rest", { id: "" }, restBody());
  for (const one of view.sections) update("section", one, rowBody(one, most));
}

/** Draws a slider of the page as one file: it stops only where a view was rendered, and only one slider can be moved at a time. */
function drawSteps(slider) {
  const own = String(slider.value) + slider.unit, now = asked.tries.get(slider.path) || own;
  const steps = slider.steps.filter((one) => one === own || answers.has(keyOf({ shown: asked.shown, tries: [[slider.path, one]] })));
  if (steps.length < 2) return null;
  const value = h("output", {}, now);
  const range = h("input", { type: "range", min: "0", max: String(steps.length - 1), step: "1", value: String(steps.indexOf(now)), "aria-label": `${slider.path}, slider`, "aria-valuetext": now, "data-path": slider.path });
  range.addEventListener("input", () => {
    const to = steps[Number(range.value)];
    asked.tries.clear();
    if (to !== own) asked.tries.set(slider.path, to);
    value.textContent = to;
    range.setAttribute("aria-valuetext", to);
    sliding = true;
    ask("view", "compare");
  });
  range.addEventListener("change", endSlide);
  return h("div", { className: "slide" }, nameOf(slider), range, value, wasOf(slider));
}

function endSlide() {
  sliding = false;
  if (!running && !view.failed) drawControls();
}

/** Names a slider by the last key of its path: what it belongs to is written above it. */
const nameOf = (slider) => h("span", { className: "name" }, slider.keys[slider.keys.length - 1]);

const wasOf = (slider) => (asked.tries.has(slider.path) ? h("span", { className: "moved" }, `was ${count(slider.value)}${slider.unit}`) : "");

function drawSlider(slider) {
  if (made) return drawSteps(slider);
  const value = asked.tries.has(slider.path) ? Number(asked.tries.get(slider.path).replace("%", "")) : slider.value;
  const section = view.sections.find((one) => one.id === slider.section);
  const wish = section && !slider.unit ? section.wanted : 0;
  const most = slider.unit === "%" ? 100 : Math.max(2 * slider.value, Math.ceil(wish * 1.1), value, 100);
  const range = h("input", { type: "range", min: "0", max: String(most), step: slider.unit === "%" || most < 400 ? "1" : "10", value: String(value), "aria-label": `${slider.path}, slider`, "data-path": slider.path });
  const number = h("input", { type: "number", min: "0", max: "999999999", value: String(value), "aria-label": slider.path });
  const move = (to) => {
    const text = String(Math.max(0, Math.floor(Number(to) || 0)));
    range.value = text;
    if (number.value !== text) number.value = text;
    const before = asked.tries.get(slider.path);
    if (Number(text) === slider.value) asked.tries.delete(slider.path); else asked.tries.set(slider.path, text + slider.unit);
    if (asked.tries.get(slider.path) !== before) ask("view");
  };
  range.addEventListener("input", () => { sliding = true; move(range.value); });
  range.addEventListener("change", endSlide);
  number.addEventListener("change", () => move(number.value));
  return h("div", { className: "slide" }, nameOf(slider), range, number, wasOf(slider));
}

// --- switches, changes ---

function choice(label, value, cases, change) {
  const select = h("select", { "aria-label": label, onchange: (event) => { change(event.target.value); ask("view", "session", "compare"); } },
    ...cases.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
  return h("div", { className: "switch" }, h("span", {}, label), select);
}

function drawSwitches() {
  const rows = controls.axes.map((axis) =>
    choice(axis.name, asked.variants[axis.name] || "", [["", view.failed ? "as the state says" : `as the state says: ${view.variants[axis.name] ?? "none"}`], ...axis.cases.map((one) => [one, one])], (to) => { asked.variants[axis.name] = to; }));
  rows.push(choice("format", asked.format, [["", "as the pack says"], ["text", "text"], ["messages", "messages"]], (to) => { asked.format = to; }));
  for (const name of controls.patches) {
    const isGiven = !view.failed && view.patches.includes(name) && !asked.patches.includes(name);
    const box = h("input", { type: "checkbox", checked: isGiven || asked.patches.includes(name), disabled: isGiven, title: isGiven ? "the case applies it" : "", onchange: (event) => {
      asked.patches = controls.patches.filter((one) => (one === name ? event.target.checked : asked.patches.includes(one)));
      ask("view", "session", "compare");
    } });
    rows.push(h("label", { className: "switch" }, `patch ${name}`, box));
  }
  at("switches").hidden = made !== null;
  at("switch-body").replaceChildren(...rows);
}

/** Returns the changes as nested YAML, as in a patch. */
function asYaml() {
  const tree = new Map();
  for (const slider of controls ? controls.sliders : []) {
    if (!asked.tries.has(slider.path)) continue;
    let node = tree;
    slider.keys.slice(0, -1).forEach((key) => { if (!node.has(key)) node.set(key, new Map()); node = node.get(key); });
    node.set(slider.keys[slider.keys.length - 1], asked.tries.get(slider.path));
  }
  const spell = (key) => (/^[A-Za-z_][\w-]*$/.test(key) ? key : JSON.stringify(key));
  const write = (node, deep) => [...node].map(([key, value]) => "  ".repeat(deep) + spell(key) + ":" + (value instanceof Map ? `\n${write(value, deep + 1)}` : ` ${value}\n`)).join("");
  return write(tree, 0);
}

function drawChanges() {
  const told = asYaml();
  if (at("yaml").textContent !== told) closeWrite();
  if (told) at("said").textContent = "";
  at("changes").hidden = asked.tries.size === 0;
  at("yaml").textContent = told;
}

// --- writing to the pack: the change is shown first, and written only if it is still the same ---

let shownDigest = null;

function closeWrite() {
  shownDigest = null;
  at("write").hidden = true;
  at("changed").replaceChildren();
}

/** Returns whether a request succeeded; shows its findings if not. */
function isMade(got) {
  at("changed").replaceChildren(...(got.failed ? got.findings.map(drawFinding) : []));
  return !got.failed;
}

async function previewWrite() {
  const got = await post("preview", wanted());
  closeWrite();
  if (!isMade(got)) return;
  shownDigest = got.digest;
  at("h-write").textContent = `In ${got.file}, ${plural(got.count, "value")} will change:`;
  at("write-body").replaceChildren(...got.lines.map((one) => h(one.kind === "gone" ? "del" : one.kind === "come" ? "ins" : "span", { className: one.kind },
    `${{ gone: "- ", come: "+ ", same: "  ", place: "line " }[one.kind]}${one.text}\n`)));
  at("write").hidden = false;
  at("write").focus();
}

async function confirmWrite() {
  const got = await post("write", { ...wanted(), digest: shownDigest, confirmed: true });
  closeWrite();
  if (!isMade(got)) return;
  asked.tries.clear();
  begin();
  at("said").textContent = `Written to ${got.file}.`;
}

async function copyYaml() {
  if (asked.tries.size === 0) return;
  try {
    await navigator.clipboard.writeText(asYaml());
    at("changed").textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(at("yaml"));
    at("changed").textContent = "Selected: copy it with your keyboard.";
  }
}

// --- cuts, notch by notch ---

const last = () => (!view || view.failed ? 0 : view.notches.length);
const stand = () => (notch === null ? last() : Math.min(notch, last()));

function drawLadder() {
  at("ladder").hidden = last() === 0;
  if (last() === 0) { notch = null; return; }
  const slider = at("notch");
  slider.max = String(last());
  slider.value = String(stand());
  const one = view.notches[stand() - 1];
  slider.setAttribute("aria-valuetext", one ? `notch ${stand()} of ${last()}` : "before any cut");
  at("told").textContent = one
    ? `Notch ${stand()} of ${last()}: ${one.title}, ${one.goal}: ${one.rule}${one.items.length ? ` ${names(one.items.map((id) => `\`${id}\``))}` : ""}, ${one.why}; ${count(one.before)} → ${plural(one.after, "token")} (${one.at})`
    : `Before any cut. ${plural(last(), "notch", "notches")} follow.`;
  at("back").disabled = stand() === 0;
  at("on").disabled = stand() === last();
}

const names = (items) => (items.length <= 4 ? items.join(", ") : `${items.slice(0, 3).join(", ")} … ${items[items.length - 1]}`);

function moveNotch(to) {
  if (!last()) return;
  notch = Math.max(0, Math.min(last(), to));
  if (notch === last()) notch = null;
  drawLadder(); drawPrompts();
}

// --- the prompt ---

function drawPrompts() {
  const place = line ? listLines().indexOf(line) : -1;
  drawView(at("prompt"), view, stand(), !made && stand() === last());
  if (line) markLine(line.closest("#prompt [data-message]") ? line : listLines()[place]);
  at("other").hidden = !other;
  at("prompts").className = other ? "prompts two" : "prompts";
  drawHeading(at("prompt"), at("shown"), other && view);
  if (!other) return at("other").replaceChildren();
  drawHeading(at("other"), at("beside"), other);
  drawView(at("other"), other, other.failed ? 0 : other.notches.length, false);
}

const drawView = (place, of, now, isLive) => drawMessages(place, of.failed ? { messages: [] } : of, now, isLive);

/** Labels a prompt when two are shown. */
function drawHeading(place, chosen, of) {
  let head = place.querySelector(":scope > .which");
  if (!of) return head && head.remove();
  if (!head) { head = h("div", { className: "which" }); place.prepend(head); }
  const tokens = of.failed || of.tokens === null ? "does not fit" : `${count(of.tokens)} of ${plural(of.budget, "token")}`;
  const name = chosen.selectedOptions.length ? chosen.selectedOptions[0].textContent : "";
  head.replaceChildren(h("b", {}, name), ...(of.failed ? of.findings.map(drawFinding) : [` ${of.pack} ${of.version}, ${tokens}`]));
}

// --- findings ---

const LEVELS = { error: "error", warn: "warning", note: "note" };

const titleOf = (one) => [h("b", {}, `${one.code} ${LEVELS[one.level]}`), one.message];

const helpOf = (one) => [one.at ? h("p", { className: "note" }, one.at) : "", one.excerpt ? h("pre", { tabIndex: 0 }, one.excerpt) : "", one.help ? h("p", { className: "note" }, one.help) : ""];

const drawFinding = (one) => h("div", { className: `finding ${one.level}` }, h("p", {}, ...titleOf(one)), ...helpOf(one));

const unfolded = new Set();

/** Draws a finding that shows its message, and the rest on demand. It stays as it is when its row is drawn again. */
function foldFinding(one) {
  const key = `${one.code} ${one.at}`;
  const made = h("details", { className: `finding ${one.level}`, open: unfolded.has(key) }, h("summary", {}, ...titleOf(one)), ...helpOf(one));
  made.addEventListener("toggle", () => (made.open ? unfolded.add(key) : unfolded.delete(key)));
  return made;
}

let metErrors = "";

/** Draws the findings of no section: one line, which opens itself for new errors and closes when they are gone. */
function drawFindings() {
  const known = new Set((view.sections || []).map((one) => one.id));
  const loose = view.findings.filter((one) => !known.has(one.section));
  const placed = view.findings.length - loose.length;
  const kinds = Object.entries(LEVELS).map(([level, name]) => [loose.filter((one) => one.level === level).length, name]).filter(([number]) => number);
  at("findings").hidden = loose.length === 0;
  at("h-findings").textContent = `Findings: ${kinds.map(([number, name]) => plural(number, name)).join(", ")}${placed ? `; ${plural(placed, "more at its section", "more at their sections")}` : ""}`;
  at("finding-first").textContent = loose.length ? loose[0].message : "";
  at("finding-body").replaceChildren(...loose.map(drawFinding));
  const errors = loose.filter((one) => one.level === "error").map((one) => `${one.code} ${one.message}`).join("\n");
  if (errors !== metErrors) at("finding-list").open = errors !== "";
  metErrors = errors;
}

// --- what made a line ---

async function trace(node) {
  const got = await attempt(() => post("trace", { asked: wanted(), message: Number(node.closest(".message").dataset.message), line: lineOf(node) }));
  const found = got && got.lines && got.lines[0];
  if (!found) return;
  const rows = [];
  const add = (name, text) => { if (text) rows.push(h("dt", {}, name), h("dd", {}, text)); };
  add("line", `${found.message === null ? "" : `message ${found.message}, `}line ${found.line}: ${found.text}`);
  for (const owner of found.owners) {
    add("section", `${owner.section}, ${owner.declared}`);
    add("item", owner.item && [owner.item, owner.pointer && `of ${owner.pointer}`, owner.note].filter(Boolean).join(", "));
    for (const bit of owner.bits.filter((one) => one.what !== "line end")) {
      add(bit.what, `${JSON.stringify(bit.text)} ${bit.at || ""} ${bit.code.split(/\s+/).join(" ")}`.trim());
      for (const caller of bit.calls) add("called at", caller);
      for (const key of bit.keys) add("state key", `${key.pointer || "the whole state"} = ${key.value}`);
    }
  }
  at("trace-body").replaceChildren(h("dl", {}, ...rows));
  at("trace").hidden = false;
  if (line) line.scrollIntoView({ block: "nearest" });
}

/** Lists the nodes that end lines, so a line of several pieces is a single stop. */
const listLines = () => [...document.querySelectorAll("#prompt [data-message] .line")].filter((one) => one === line || one.textContent.endsWith("\n"));

/** Marks the line whose origin Enter requests. It stays chosen when the page is redrawn, as its node or the node in its place. */
function markLine(chosen) {
  if (line) line.classList.remove("now");
  line = chosen || null;
  if (line) line.classList.add("now");
}

function moveLine(by) {
  const lines = listLines();
  if (!lines.length) return;
  markLine(lines[Math.max(0, Math.min(lines.length - 1, (line ? lines.indexOf(line) : -1) + by))]);
  line.scrollIntoView({ block: "nearest" });
}

// --- sessions, goldens, differences ---

let measured = "";

/** Measures the session when its strip is visible and anything but the turn has changed. */
async function askSession() {
  const own = start.shown.find((one) => one.id === asked.shown);
  const turns = own && own.session ? start.shown.filter((one) => one.session === own.session) : [];
  at("session").hidden = turns.length < 2;
  if (turns.length < 2 || !at("session-shown").open) return;
  const key = JSON.stringify({ ...wanted(), shown: own.session });
  if (key !== measured) {
    const got = await post("session", wanted());
    at("session").hidden = !got.turns;
    at("turns").replaceChildren(...(got.turns || []).map(drawTurn));
    measured = key;
  }
  for (const one of at("turns").children) one.setAttribute("aria-current", String(one.dataset.id === asked.shown));
}

function drawTurn(one, number) {
  const share = one.share === null ? "the first turn" : `${one.share} % read again`;
  const because = one.broken ? `: ${one.broken.what || one.broken.why || ""}` : "";
  return h("button", { type: "button", className: "turn", "data-id": one.id, title: `${share}${because}`, "aria-label": `turn ${number + 1}: ${share}, ${plural(one.tokens, "token")}`, onclick: () => pick(one.id) },
    bar([["held", 0, one.share || 0]], share), one.share === null ? "first" : `${one.share} %`);
}

const drawRuns = (runs) => h("pre", { className: "text", tabIndex: 0, "aria-label": "changed words" }, ...runs.flatMap((run) => {
  if (run.kind === "gone") return [h("del", {}, run.text)];
  if (run.kind === "come") return [h("ins", {}, run.text)];
  const lines = run.text.split("\n");
  return [lines.length > 5 ? `${lines.slice(0, 2).join("\n")}\n⋯\n${lines.slice(-2).join("\n")}` : run.text];
}));

function drawDifference(found) {
  const shown = (value) => (typeof value === "number" ? count(value) : value ?? "–");
  const change = (old, now) => (old || now ? `: ${shown(old)} → ${shown(now)}` : "");
  const facts = found.facts.map((one) => h("li", {}, one.name + change(one.old || null, one.new || null)));
  const sections = found.sections.map((one) => h("details", {},
    h("summary", {}, (one.id || "the whole") + change(one.old_tokens, one.new_tokens)),
    listOf(one.items.map((item) => h("li", {}, `${item.id} ${item.change}: ${shown(item.old_tokens)} → ${shown(item.new_tokens)}${item.why ? ` (${item.why})` : ""}`))),
    drawRuns(one.runs)));
  return [listOf(facts), ...sections];
}

const listOf = (rows) => (rows.length ? h("ul", { className: "note" }, ...rows) : "");

async function askCompared() {
  at("difference").hidden = true;
  const beside = at("beside").value;
  if (!beside || !view || view.failed || !other || other.failed) return;
  const got = await post("compare", { old: besideOf(beside), new: wanted() });
  if (got.failed) return;
  at("difference").hidden = false;
  at("difference-body").replaceChildren(...(got.empty ? [h("p", {}, "nothing")] : drawDifference(got)));
}

async function askGoldens() {
  drawGoldens(await post("goldens", {}));
}

function drawGoldens(got) {
  const list = got.goldens || [];
  at("goldens").hidden = list.length === 0;
  at("h-goldens").textContent = `Pending goldens: ${count(list.length)}`;
  at("golden-body").replaceChildren(...list.map((one) => {
    const settle = (verb) => () => attempt(async () => {
      const done = await post("golden", { path: one.path, digest: one.digest, verb });
      at("golden-said").textContent = done.failed ? done.findings.map((found) => found.message).join("; ") : "";
      drawGoldens(done.goldens ? done : await post("goldens", {}));
    });
    const cause = one.cause.map((mover) => h("p", { className: "note" }, `moved by ${mover.what}${mover.at ? ` (${mover.at})` : ""}`));
    const stale = one.stale.length ? h("p", { className: "moved" }, `out of date: ${one.stale.join(", ")} changed since; run promptc test`) : "";
    return h("div", { className: "golden" }, h("p", { title: one.path }, h("b", {}, one.case), ` ${nameOfFile(one.path)} (${one.status})`), ...cause, stale, ...drawDifference(one.found),
      h("div", { className: "buttons" },
        h("button", { type: "button", "aria-label": `Accept ${one.path}`, disabled: one.stale.length > 0, onclick: settle("accept") }, "Accept"),
        h("button", { type: "button", "aria-label": `Reject ${one.path}`, onclick: settle("reject") }, "Reject")));
  }));
}

// --- what is chosen, and the keys ---

function pick(id) {
  asked.shown = id;
  at("shown").value = id;
  at("said").textContent = "";
  at("trace").hidden = true;
  notch = null;
  ask("view", "session", "compare");
}

function step(by) {
  if (!start) return;
  const place = start.shown.findIndex((one) => one.id === asked.shown) + by;
  if (place >= 0 && place < start.shown.length) pick(start.shown[place].id);
}

const nameOfFile = (path) => path.split(/[\\/]/).pop();

/** Returns labels without the folder that all files have in common. The names of cases stay as they are. */
function shortenLabels(labels) {
  const files = labels.filter((one) => one.endsWith(".json")).map((one) => one.slice(0, one.length - nameOfFile(one).length));
  const common = files.length ? files.reduce((one, two) => { while (!two.startsWith(one)) one = one.slice(0, -1); return one; }) : "";
  const start = Math.max(common.lastIndexOf("/"), common.lastIndexOf("\\")) + 1;
  return labels.map((one) => (one.endsWith(".json") ? one.slice(start) : one));
}

function fillPickers() {
  if (start.shown.length && !start.shown.some((one) => one.id === asked.shown)) asked.shown = start.shown[0].id;
  const names = shortenLabels(start.shown.map((one) => one.label));
  at("shown").replaceChildren(...start.shown.map((one, place) => h("option", { value: one.id, selected: one.id === asked.shown, title: one.label }, names[place])));
  const beside = made && !at("beside").length && start.against.length ? `pack:${start.against[0]}` : at("beside").value;
  const options = [["", "nothing"], ["file", "the pack as its file is"], ...start.against.map((one) => [`pack:${one}`, one]), ...start.shown.map((one, place) => [`state:${one.id}`, names[place]])];
  at("beside").replaceChildren(...options.map(([key, text]) => h("option", { value: key, selected: key === beside }, text)));
}

const KEYS = {
  n: () => step(1), p: () => step(-1), j: () => moveLine(1), k: () => moveLine(-1),
  "[": () => moveNotch(stand() - 1), "]": () => moveNotch(stand() + 1), c: copyYaml,
  s: () => { const first = document.querySelector("#sections input"); if (first) first.focus(); },
  Escape: () => { at("trace").hidden = true; },
  Enter: () => { if (line) trace(line); },
};

document.addEventListener("keydown", (event) => {
  const tag = event.target.tagName;
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  if (event.key !== "Escape" && (/^(SELECT|TEXTAREA)$/.test(tag) || (tag === "INPUT" && event.target.type === "number"))) return;
  if (event.key === "Enter" && /^(BUTTON|A|SUMMARY|INPUT)$/.test(tag)) return;
  KEYS[event.key]();
});
at("prompt").addEventListener("click", (event) => {
  const found = event.target.closest("[data-message] .line");
  if (!found || !getSelection().isCollapsed) return;
  markLine(found);
  trace(found);
});
at("shown").addEventListener("change", (event) => pick(event.target.value));
at("beside").addEventListener("change", () => ask("view", "compare"));
at("session-shown").addEventListener("toggle", () => { if (start) ask("session"); });
at("before").addEventListener("click", () => step(-1));
at("after").addEventListener("click", () => step(1));
at("notch").addEventListener("input", (event) => moveNotch(Number(event.target.value)));
at("back").addEventListener("click", () => moveNotch(stand() - 1));
at("on").addEventListener("click", () => moveNotch(stand() + 1));
at("copy").addEventListener("click", copyYaml);
at("reset").addEventListener("click", () => { asked.tries.clear(); ask("view"); });
at("close").addEventListener("click", KEYS.Escape);
at("preview").addEventListener("click", () => ask("preview"));
at("confirm").addEventListener("click", () => ask("write"));
at("cancel").addEventListener("click", closeWrite);

if (made) {
  for (const one of document.querySelectorAll("[data-served]")) one.hidden = true;
  at("made-note").hidden = false;
} else {
  const events = new EventSource(base + "events");
  let isLost = false;
  events.onmessage = begin;
  events.onerror = () => { isLost = true; at("live").textContent = "promptc serve has ended"; };
  events.onopen = () => { at("live").textContent = ""; if (isLost) begin(); isLost = false; };
}
begin();
