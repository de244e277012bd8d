// One interleaving as lanes: a column for each thread, a row for each step, in the order of the trace.

const ZOOMS = [5, 9, 15, 22, 30];
const LONG_RUN = 8;
const KEPT_ENDS = 2;

/** The rows to draw: steps, folded runs, steps that are filtered out or are not in the record, the failure. */
function laneRows(interleaving, view) {
  const rows = [];
  const gaps = new Map(interleaving.gaps.map((gap) => [gap.before, gap.count]));
  const folds = view.filter || !view.fold ? new Map() : longRuns(interleaving);
  let hidden = 0;
  const flush = () => {
    if (hidden) rows.push({ kind: "hidden", count: hidden });
    hidden = 0;
  };
  for (let index = 0; index <= interleaving.steps.length; index++) {
    if (gaps.has(index)) rows.push({ kind: "gap", count: gaps.get(index) });
    if (index === interleaving.steps.length) break;
    const end = folds.get(index);
    if (end && !view.unfolded.has(index)) {
      rows.push({ kind: "fold", from: index, to: end, thread: interleaving.steps[index].thread });
      index = end;
    } else if (view.filter && !view.filter(interleaving.steps[index])) hidden++;
    else {
      flush();
      rows.push({ kind: "step", index });
    }
  }
  flush();
  if (interleaving.failure) rows.push({ kind: "failure" });
  return rows;
}

/** Long runs of one thread without a context switch that can be folded: from which step to which. */
function longRuns(interleaving) {
  const folds = new Map();
  const gaps = new Set(interleaving.gaps.map((gap) => gap.before));
  let start = 0;
  const plain = (step) => !step.marked && !["fork", "join", "lock", "unlock"].includes(step.mark);
  for (let index = 1; index <= interleaving.steps.length; index++) {
    const step = interleaving.steps[index];
    const goesOn =
      step &&
      !gaps.has(index) &&
      step.thread === interleaving.steps[start].thread &&
      plain(step) &&
      plain(interleaving.steps[index - 1]);
    if (goesOn) continue;
    if (index - start > LONG_RUN) folds.set(start + KEPT_ENDS, index - 1 - KEPT_ENDS);
    start = index;
  }
  return folds;
}

/** Draws lanes into a pane; `view` says how, and is told which step is selected. */
function drawLanes(interleaving, view, width) {
  const height = ZOOMS[view.zoom];
  const isWordy = height >= 15;
  const gutter = 18 + 7 * String(interleaving.steps.at(-1)?.number ?? 0).length;
  // A row has one step, so its words may extend over the lanes to its right; those of the last lane need room, too.
  const tail = isWordy ? 80 : 0;
  const depths = spanDepths(interleaving);
  const inset = 16 + 6 * Math.max(0, ...depths.map((it) => it.depth + 1));
  const count = Math.max(1, interleaving.threads.length);
  const laneWidth = Math.max(isWordy ? 100 : 46, Math.floor((width - gutter - tail) / count));
  const total = gutter + laneWidth * count + tail;
  const lane = new Map(interleaving.threads.map((thread, place) => [thread.id, gutter + place * laneWidth]));
  const markX = (thread) => (lane.get(thread) ?? gutter) + inset;
  const fit = (text, room) => {
    const most = Math.max(3, Math.floor(room / 7.25));
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
  };
  const rows = laneRows(interleaving, view);
  const places = new Map();
  let y = 8;
  for (const row of rows) {
    row.height = row.kind === "step" ? height : Math.max(height, 16);
    row.y = y + row.height / 2;
    if (row.kind === "step") places.set(row.index, row.y);
    if (row.kind === "fold") for (let it = row.from; it <= row.to; it++) places.set(it, row.y);
    y += row.height;
  }
  const head = svg("svg", { class: "lanehead", width: total, height: 30, "aria-hidden": "true" });
  const body = svg("svg", {
    width: total,
    height: y + 8,
    role: "listbox",
    tabindex: 0,
    "aria-label": `Steps of ${interleaving.title}, from first to last`,
  });
  const ground = svg("g"),
    under = svg("g"),
    middle = svg("g"),
    over = svg("g"),
    numbers = svg("g", { class: "numbers" });
  const backdrop = svg("rect", { class: "backdrop", width: gutter, height: y + 8 });
  numbers.append(backdrop);
  for (const thread of interleaving.threads) {
    const x = markX(thread.id);
    head.append(
      svg("text", {
        class: "thread",
        x: x - 5,
        y: 20,
        style: null,
        fill: threadColour(thread.id),
        text: fit(thread.title, laneWidth - inset + 10),
      }),
    );
    under.append(svg("line", { class: "track", x1: x, x2: x, y1: 0, y2: y }));
  }
  for (const { span, depth } of depths) drawSpan(under, interleaving, span, depth, { places, markX, height, end: y });
  drawControl(under, interleaving, rows, markX);
  for (const link of interleaving.links) drawLink(middle, link, interleaving, places, markX, view);
  for (const row of rows) {
    const isMarked = row.kind === "step" && interleaving.steps[row.index].marked;
    if (isMarked || row.kind === "failure")
      ground.append(
        svg("rect", {
          class: isMarked ? "ground" : "failing",
          x: 1,
          y: row.y - row.height / 2,
          width: total - 2,
          height: row.height,
          rx: 4,
        }),
      );
    if (row.kind === "step") {
      over.append(stepRow(interleaving, row, { view, total, markX, isWordy, fit }));
      if (isWordy)
        numbers.append(
          svg("text", { class: "number", x: gutter - 4, y: row.y + 4, text: interleaving.steps[row.index].number }),
        );
    } else if (row.kind === "failure") over.append(failureRow(interleaving, row, { view, total, markX, fit }));
    else over.append(noteRow(row, { view, total, gutter, markX }));
  }
  body.append(arrowheads(), ground, under, middle, over, numbers);
  // The numbers stay in sight when the pane is scrolled to the side, above the lanes that pass below them.
  const follow = (left) => {
    numbers.setAttribute("transform", `translate(${left} 0)`);
    backdrop.classList.toggle("hidden", left === 0 || !isWordy);
  };
  follow(0);
  return { head, body, rows, places, follow };
}

function stepRow(interleaving, row, { view, total, markX, isWordy, fit }) {
  const step = interleaving.steps[row.index];
  const x = markX(step.thread);
  const isSelected = view.selected === row.index;
  const words = step.times ? `${step.text} (${step.times} times)` : step.text;
  const group = svg("g", {
    class: `step${step.marked ? " marked" : ""}${isSelected ? " selected" : ""}`,
    role: "option",
    id: `${view.name}-step-${row.index}`,
    "aria-selected": String(isSelected),
    "aria-label": `${step.number}: T${step.thread} ${words}`,
    "data-step": row.index,
    onclick: () => view.select(row.index),
    onpointermove: (event) => view.hover(event, row.index),
    onpointerleave: () => view.hover(null),
  });
  group.append(
    svg("rect", { class: "row", x: 1, y: row.y - row.height / 2, width: total - 2, height: row.height, rx: 4 }),
  );
  const scale = Math.min(1, Math.max(0.35, row.height / 22));
  const mark = svg(
    "g",
    { class: "mark", transform: `translate(${x} ${row.y})` },
    markShape(step.mark, threadColour(step.thread), scale),
  );
  if (step.marked)
    mark.append(svg("circle", { r: 9 * scale, fill: "none", stroke: threadColour(step.thread), "stroke-width": 1.4 }));
  group.append(mark);
  if (isWordy) {
    group.append(
      svg("text", {
        class: "label",
        x: x + 13,
        y: row.y + 4,
        text: fit(words.replace(/ \(in [^()]*\)/g, ""), total - x - 18),
      }),
    );
  }
  return group;
}

function failureRow(interleaving, row, { view, total, markX, fit }) {
  const { thread, kind } = interleaving.failure;
  const x = markX(thread);
  const group = svg("g", {
    class: `step failure${view.selected === "failure" ? " selected" : ""}`,
    role: "option",
    id: `${view.name}-step-failure`,
    "aria-selected": String(view.selected === "failure"),
    "aria-label": `T${thread} fails: ${kind}`,
    onclick: () => view.select("failure"),
    onpointermove: (event) => view.hover(event, "failure"),
    onpointerleave: () => view.hover(null),
  });
  group.append(
    svg("rect", { class: "row", x: 1, y: row.y - row.height / 2, width: total - 2, height: row.height, rx: 4 }),
  );
  group.append(
    svg("path", {
      class: "mark",
      d: "M-5-5L5 5M5-5L-5 5",
      stroke: "var(--bad)",
      "stroke-width": 3,
      transform: `translate(${x} ${row.y})`,
    }),
  );
  group.append(svg("text", { class: "fails", x: x + 13, y: row.y + 4, text: fit(`fails: ${kind}`, total - x - 18) }));
  return group;
}

function noteRow(row, { view, gutter, total, markX }) {
  if (row.kind === "fold") {
    const words = count(row.to - row.from + 1, "step");
    const open = () => view.unfold(row.from);
    const group = svg("g", {
      class: "fold",
      role: "button",
      tabindex: 0,
      "aria-label": `Unfold ${words} of T${row.thread}`,
      onclick: open,
      onkeydown: (event) => event.key === "Enter" && open(),
    });
    group.append(
      svg("rect", { class: "row", x: 1, y: row.y - row.height / 2, width: total - 2, height: row.height, rx: 4 }),
    );
    group.append(svg("text", { class: "gap", x: markX(row.thread) + 13, y: row.y + 4, text: `⊞ ${words}` }));
    return group;
  }
  const words =
    row.kind === "gap"
      ? `${count(row.count, "step")} left out of the page`
      : `${count(row.count, "step")} filtered out`;
  return svg("text", { class: "gap", x: gutter, y: row.y + 4, text: `⋯ ${words}` });
}

/** Locks that a thread holds at the same time are drawn side by side. */
function spanDepths(interleaving) {
  const open = new Map();
  return [...interleaving.spans]
    .sort((a, b) => a.from - b.from)
    .map((span) => {
      const all = (open.get(span.thread) ?? []).filter((it) => it.span.to >= span.from);
      let depth = 0;
      while (all.some((it) => it.depth === depth)) depth++;
      open.set(span.thread, [...all, { span, depth }]);
      return { span, depth };
    });
}

function drawSpan(layer, interleaving, span, depth, { places, markX, height, end }) {
  const inside = [...places.entries()].filter(([index]) => index >= span.from && index <= span.to).map(([, y]) => y);
  if (!inside.length) return;
  const top = Math.min(...inside) - height / 3;
  const bottom = span.open ? end - 4 : Math.max(...inside) + height / 3;
  const x = markX(span.thread) - 11 - 6 * depth;
  const words = `T${span.thread} holds ${span.lock}${span.shared ? " (shared)" : ""}${span.open ? " to the end" : ""}`;
  const bar = {
    class: "span",
    x,
    y: top,
    width: 4,
    height: Math.max(3, bottom - top),
    rx: 2,
    fill: threadColour(span.thread),
  };
  layer.append(
    svg(
      "rect",
      span.shared ? { ...bar, "fill-opacity": 0.4, stroke: threadColour(span.thread) } : bar,
      svg("title", { text: words }),
    ),
  );
}

/** The context switches, from lane to lane; preemptions are drawn apart. */
function drawControl(layer, interleaving, rows, markX) {
  const preempted = new Set(interleaving.switches.filter((it) => it.preempts).map((it) => it.before));
  let last = null;
  for (const row of rows) {
    if (row.kind === "gap" || row.kind === "hidden") {
      last = null;
      continue;
    }
    const thread =
      row.kind === "step" ? interleaving.steps[row.index].thread : row.kind === "fold" ? row.thread : interleaving.failure.thread;
    if (last && last.thread !== thread) {
      const isForced = row.kind === "step" && preempted.has(row.index);
      layer.append(
        svg("path", {
          class: `control${isForced ? " preempts" : ""}`,
          d: `M${markX(last.thread)} ${last.y}V${(last.y + row.y) / 2}H${markX(thread)}V${row.y}`,
        }),
      );
    }
    last = { thread, y: row.y };
  }
}

function drawLink(layer, link, interleaving, places, markX, view) {
  const [y1, y2] = [places.get(link.from), places.get(link.to)];
  if (y1 === undefined || y2 === undefined || y1 === y2) return;
  const [x1, x2] = [markX(interleaving.steps[link.from].thread), markX(interleaving.steps[link.to].thread)];
  const isStrong = view.selected === link.from || view.selected === link.to;
  // From mark to mark along the lanes, so that words stay legible.
  const bend = Math.min(90, 6 + (y2 - y1) / 2);
  const d = `M${x1} ${y1 + 5}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2 - 6}`;
  layer.append(
    svg("path", {
      class: `link ${link.kind}${isStrong ? " strong" : ""}`,
      d,
      "marker-end": `url(#arrow-${link.kind})`,
    }),
  );
}

function arrowheads() {
  const colours = { "reads-from": "var(--accent)", fork: "var(--soft)", join: "var(--soft)", wakes: "var(--warn)" };
  const one = ([kind, colour]) =>
    svg(
      "marker",
      {
        id: `arrow-${kind}`,
        viewBox: "0 0 8 8",
        refX: 7,
        refY: 4,
        markerWidth: 7,
        markerHeight: 7,
        markerUnits: "userSpaceOnUse",
        orient: "auto",
      },
      svg("path", { d: "M0 0L8 4L0 8Z", fill: colour }),
    );
  return svg("defs", {}, Object.entries(colours).map(one));
}
