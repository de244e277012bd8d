"use strict";
// The elements of all views. Text is set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element. Fields that begin with `on` are listeners; `text` is its text. */
function el(tag, fields = {}, ...children) {
  return filled(document.createElement(tag), fields, children);
}

/** The same for a drawing. */
function svg(tag, fields = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), fields, children);
}

function filled(node, fields, children) {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

/** The same for a word that is given in its plural. */
const counted = (number, what) => `${figure(number)} ${plural(number, what)}`;
const plural = (number, what) => (number === 1 ? what.replace(/ies$/, "y").replace(/s$/, "") : what);

/** A number as people read it. */
function figure(value) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

function seconds(value) {
  if (value === null || value === undefined) return "–";
  return value < 1 ? `${figure(value * 1000)} ms` : `${figure(value)} s`;
}

const lastPart = (path) =>
  String(path ?? "")
    .split("/")
    .pop();
const threadColour = (id) => `var(--t${id % 8})`;

/** A table; a column is a title and what it shows, with `number` for figures. */
function table(columns, rows, fields = {}) {
  const kind = (column) => (column.number ? { class: "number" } : {});
  const cell = (column, row) => {
    const shown = column.show(row);
    return el("td", kind(column), shown instanceof Node ? shown : String(shown ?? "–"));
  };
  const head = columns.map((column) => el("th", { scope: "col", ...kind(column) }, column.title));
  const body = rows.map((row) =>
    el(
      "tr",
      {},
      columns.map((column) => cell(column, row)),
    ),
  );
  return el("table", fields, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body));
}

/** The same for screen readers. */
function asTable(columns, rows, what = "As a table") {
  return el("details", {}, el("summary", { text: what }), el("div", { class: "tall" }, table(columns, rows)));
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { class: "small" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function copyButton(label, text) {
  const button = el("button", { type: "button", text: label });
  button.addEventListener("click", async () => {
    button.textContent = (await copyText(text())) ? "Copied" : "Select it and copy";
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}

/** A command, with a button that copies it. */
function commandLine(command) {
  return el(
    "div",
    { class: "copy" },
    el("code", { text: command }),
    copyButton("Copy", () => command),
  );
}

/** Downloads this text as a file. */
function download(name, kind, text) {
  const link = el("a", { download: name, href: URL.createObjectURL(new Blob([text], { type: kind })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The marks of steps: each kind has a shape of its own, so that colour is not needed to distinguish them. */
const MARKS = {
  read: ["read", "M5 0A5 5 0 1 1-5 0A5 5 0 1 1 5 0Z", false],
  write: ["write", "M5 0A5 5 0 1 1-5 0A5 5 0 1 1 5 0Z", true],
  update: ["read and write at once", "M0-6L6 0L0 6L-6 0Z", true],
  lock: ["lock", "M-5-5H5V5H-5Z", true],
  unlock: ["unlock", "M-5-5H5V5H-5Z", false],
  wait: ["wait", "M-5-5L5-5L0 5Z", false],
  wake: ["woken", "M-5 5L5 5L0-5Z", false],
  signal: ["signal", "M-5 5L5 5L0-5Z", true],
  fork: ["create a thread", "M-5-5L6 0L-5 5Z", true],
  join: ["join a thread", "M5-5L-6 0L5 5Z", false],
  exit: ["end", "M-5 0H5", false],
  other: ["other", "M-2 0A2 2 0 1 1 2 0A2 2 0 1 1-2 0Z", true],
};

function markShape(kind, colour, size = 1) {
  const [, path, solid] = MARKS[kind] ?? MARKS.other;
  const fill = solid ? colour : "var(--card)";
  return svg("path", { d: path, fill, stroke: colour, "stroke-width": 1.8, transform: `scale(${size})` });
}

function markLegend(kinds) {
  const one = (kind) =>
    el(
      "li",
      {},
      svg(
        "svg",
        { width: 16, height: 16, viewBox: "-8 -8 16 16", "aria-hidden": "true" },
        markShape(kind, "var(--soft)"),
      ),
      MARKS[kind][0],
    );
  return kinds.map(one);
}
