// Draws the prompt on the page of `promptc serve`. Nodes of unchanged pieces are reused, and pieces are grouped into blocks of lines, so
// the browser lays out only what is visible. All texts are set as text nodes: no part of a pack, a state or a finding is parsed as HTML.
"use strict";

const at = (id) => document.getElementById(id);
const numbers = new Intl.NumberFormat("en-US");
const count = (number) => numbers.format(number);
const plural = (number, noun, nouns) => `${count(number)} ${number === 1 ? noun : nouns || `${noun}s`}`;
const percent = (part, whole) => (whole ? Math.floor((100 * part) / whole) : 0);
const hues = new Map();
const hue = (section) => {
  if (!hues.has(section)) hues.set(section, 25 + ((hues.size * 137 + 185) % 310));  // no red: it marks cuts
  return hues.get(section);
};

/** Makes an element with attributes, and children that are elements or texts. */
function h(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "vars") for (const [key, one] of Object.entries(value)) made.style.setProperty(key, one);
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((one) => one !== null && one !== undefined && one !== ""));
  return made;
}

// --- views: values that they share are sent once, and referred to by number (workshop/view.py) ---

let known = { turn: null, values: [] };

/** Returns the view with values in place of their numbers. A value is the same object in all views, so it identifies a piece. */
function take(view) {
  if (view.failed) return view;
  if (view.known) {
    if (view.known.turn !== known.turn) known = { turn: view.known.turn, values: [] };
    view.known.values.forEach((one, place) => { known.values[view.known.from + place] = one; });
  }
  const values = known.values;
  const notches = view.notches.map(([ladder, step, items, why, before, after, needs]) => {
    const [section, rule, place] = values[step];
    return { ...view.ladders[ladder], section, rule, at: place, items: values[items], why: values[why], before, after, needs };
  });
  const messages = view.messages.map((one) => ({ ...one, pieces: one.pieces.map((piece) => {
    const [number, gone, made, edits] = Array.isArray(piece) ? piece : [piece];
    return { value: values[number], gone: gone ?? null, made: made ?? null, edits: edits ?? [] };
  }) }));
  return { ...view, notches, messages };
}

// --- pieces ---

const LEAST_PIECES = 24, LINE_PIXELS = 21, LINE_CHARACTERS = 110;

const isGone = (piece, now) => piece.gone !== null && piece.gone <= now;
const isToCome = (piece, now) => piece.made !== null && piece.made > now;

/** Returns the last edit of a piece up to the notch `now`: the number of its notch, and the place of the cut. */
const lastEdit = (piece, now) => piece.edits.filter((one) => one[0] <= now).pop();

/** Returns a key for the look of a piece after the notch `now`. Equal keys mean equal looks, except for the notches that it names. */
function look(piece, now) {
  if (isToCome(piece, now)) return "to come";
  if (isGone(piece, now)) return `gone ${lastText(piece)}`;
  const edit = lastEdit(piece, now);
  return `${piece.made ? "made" : ""} ${edit ? `cut ${edit.slice(1).join(" ")}` : piece.edits.length ? "whole" : ""}`;
}

const endsLine = (piece) => (piece.value.kind === "item" ? piece.value.end ?? "\n" : piece.value.text).endsWith("\n");

/** Makes lines that can be clicked, from text that is in the prompt. */
const live = (text, className) => (text ? text.split(/(?<=\n)/).map((part) => h("span", { className: `line ${className}` }, part)) : []);

function drawPiece(piece, now) {
  const node = h("span", {}), value = piece.value;
  node.chips = [];
  const why = (of) => {
    const chip = h("span", { className: "why" });
    node.chips.push([chip, of]);
    return chip;
  };
  if (value.kind !== "item") node.append(...live(value.text, value.kind === "header" || value.kind === "group" ? "piece" : "piece frame"));
  else if (isToCome(piece, now)) node.hidden = true;
  else if (isGone(piece, now)) node.append(h("del", { "data-item": value.item }, lastText(piece)), " ", why("gone"), "\n");
  else {
    if (piece.made) node.append(why("made"), " ");
    if (value.open) node.append(...live(`${value.open}\n`, "piece frame"));
    node.append(...drawBody(piece, now, why));
    if (value.close) node.append(...live(`\n${value.close}`, "piece frame"));
    node.append(...live(value.end ?? "\n", "piece"));
  }
  return node;
}

function lastText(piece) {
  const [, from, to, middle] = piece.edits.length ? piece.edits[piece.edits.length - 1] : [];
  const text = piece.value.text;
  return from === undefined ? text : text.slice(0, from) + middle + text.slice(to);
}

function drawBody(piece, now, why) {
  const { text, whole } = piece.value, edit = lastEdit(piece, now);
  if (!edit) return live(piece.edits.length && whole !== undefined ? whole : text, "piece");
  const [, from, to, middle] = edit;
  if (from === undefined) return [h("del", {}, whole), " ", why("cut"), "\n", ...live(text, "piece")];
  return [...live(text.slice(0, from), "piece"), h("del", {}, text.slice(from, to)), why("cut"), ...live(middle, "piece"), ...live(text.slice(to), "piece")];
}

/** Updates the reasons in reused nodes: with another budget, other notches cut the piece, and other numbers of tokens would spare it. */
function tellWhy(of, node, piece, now) {
  for (const [chip, kind] of node.chips) {
    const number = kind === "cut" ? lastEdit(piece, now)[0] : piece[kind], one = of.notches[number - 1];
    const spared = one && one.needs > 0 ? ` · spared with ${plural(one.needs, "token")} more` : "";
    const text = one ? `${kind === "made" ? "made" : piece.value.item}: ${one.rule}, ${one.goal}, ${one.why}${spared}` : "not in the prompt";
    if (chip.textContent === text && chip.number === number) continue;
    chip.textContent = text;
    chip.number = number;
    if (one) chip.title = `notch ${number}: ${one.at}`;
  }
}

// --- messages ---

/** Draws the messages of a view into `place`. `isTraced`: the origin of its lines can be requested. */
function drawMessages(place, of, now, isTraced) {
  const cards = [...place.querySelectorAll(":scope > .message")];
  of.messages.forEach((message, number) => {
    const card = cards[number] || place.appendChild(h("article", { className: "message" }));
    drawCard(card, of, message, now);
    if (isTraced && message.index !== null && of.tokens !== null) card.dataset.message = String(message.index);
    else delete card.dataset.message;
  });
  cards.slice(of.messages.length).forEach((one) => one.remove());
}

function drawCard(card, of, message, now) {
  const title = card.querySelector(":scope > h3");
  if (!message.role) { if (title) title.remove(); }
  else if (!title) card.prepend(h("h3", {}, message.role));
  else if (title.textContent !== message.role) title.textContent = message.role;
  const spare = new Map();
  for (const node of card.pieces || []) {
    const pile = spare.get(node.value);
    if (pile) pile.push(node); else spare.set(node.value, [node]);
  }
  card.pieces = message.pieces.map((piece) => {
    const looks = look(piece, now), pile = spare.get(piece.value) || [];
    const place = pile.findIndex((one) => one.looks === looks);
    const node = place >= 0 ? pile.splice(place, 1)[0] : Object.assign(drawPiece(piece, now), { value: piece.value, looks });
    tellWhy(of, node, piece, now);
    return node;
  });
  placeNodes(card, message.pieces);
}

/** Groups the nodes of a card by section, and within a section into blocks of lines. Leaves alone what is in place already. */
function placeNodes(card, pieces) {
  const blocks = [...card.querySelectorAll(":scope > .block")];
  let used = 0, from = 0;
  while (from < pieces.length) {
    const section = pieces[from].value.section;
    let to = from;
    while (to < pieces.length && pieces[to].value.section === section) to += 1;
    const block = blocks[used] || card.appendChild(h("div", { className: "block" }, h("div", { className: "name" }), h("div", { className: "text" })));
    if (block.dataset.section !== section) {
      block.dataset.section = section;
      block.style.setProperty("--hue", hue(section));
      block.firstChild.textContent = section;
    }
    placeLines(block.lastChild, card.pieces, pieces, from, to);
    used += 1;
    from = to;
  }
  blocks.slice(used).forEach((one) => one.remove());
}

function placeLines(text, nodes, pieces, from, to) {
  let group = text.firstElementChild;
  while (from < to) {
    let end = from, lines = 0;
    do {
      lines += Math.ceil((pieces[end].value.text.length + 1) / LINE_CHARACTERS);
      end += 1;
    } while (end < to && (end - from < LEAST_PIECES || !endsLine(pieces[end - 1])));
    group = group || text.appendChild(h("div", { className: "lines" }));
    const wanted = nodes.slice(from, end);
    if (wanted.length !== group.childNodes.length || wanted.some((one, place) => group.childNodes[place] !== one)) {
      group.replaceChildren(...wanted);
      group.style.setProperty("--high", `${lines * LINE_PIXELS}px`);
    }
    group = group.nextElementSibling;
    from = end;
  }
  while (group) { const next = group.nextElementSibling; group.remove(); group = next; }
}

/** Returns the line of the message, from 1, in which a node of a traced card begins. */
function lineOf(node) {
  let line = 1;
  for (const one of node.closest(".message").querySelectorAll(".line")) {
    if (one === node) return line;
    if (one.textContent.endsWith("\n")) line += 1;
  }
  return line;
}
