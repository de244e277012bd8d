// Inputs and functions of a suite.

function suiteView(campaign) {
  const { report, matrix } = campaign.record;
  const root = el("section");
  const { cfp, inputs } = report;
  const order = new Map((matrix?.rows ?? []).map((row) => [row.input, row.selected]));
  const sorted = [...inputs].sort((a, b) => (order.get(a.name) ?? 1e9) - (order.get(b.name) ?? 1e9));
  const chosen = inputs.filter((it) => it.selected).length;
  root.append(
    el(
      "div",
      { class: "card" },
      el("h2", { text: "What each input adds" }),
      el("p", {
        text: `${chosen} of ${count(inputs.length, "input")} show all ${counted(cfp.aggregated, "pairs")} of functions that can run at the same time. ${report.interrupted ? "Findings were looked for only there, and not in all of them, for it was interrupted" : "Only there findings were looked for"}; a finding counts under each input that shows it.`,
      }),
      bars(sorted),
      el(
        "div",
        { class: "scroll" },
        table(
          [
            { title: "Input", show: (it) => it.name },
            { title: "Selected", show: (it) => (it.selected ? `✓ ${order.get(it.name) ?? ""}` : "") },
            { title: "Pairs", number: true, show: (it) => figure(it.pairs) },
            { title: "New", number: true, show: (it) => figure(it.new_pairs) },
            {
              title: "Functions looked at",
              number: true,
              show: (it) => `${it.functions_selected}/${it.functions_executed}`,
            },
            { title: "Findings", number: true, show: (it) => figure(it.findings) },
            { title: "Measuring", number: true, show: (it) => seconds(it.measuring_s) },
            { title: "Looking", number: true, show: (it) => seconds(it.detecting_s) },
            { title: "Ended", show: (it) => [it.outcome, it.message].filter(Boolean).join(": ") },
          ],
          sorted,
          { id: "inputs" },
        ),
      ),
    ),
  );
  if (matrix?.functions.length)
    root.append(el("div", { class: "card" }, el("h2", { text: "Inputs by functions" }), matrixDrawing(matrix)));
  if (report.full)
    root.append(
      el("div", { class: "card" }, el("h2", { text: "Against looking at everything" }), againstTable(report.full)),
    );
  return root;
}

function bars(inputs) {
  const shown = inputs.filter((it) => it.selected);
  if (!shown.length) return "";
  const most = Math.max(1, ...shown.map((it) => it.new_pairs));
  const [row, left, width] = [24, 180, 760];
  const chart = svg("svg", {
    class: "chart",
    viewBox: `0 0 ${width} ${row * shown.length + 8}`,
    role: "img",
    "aria-label": `New pairs by input: ${shown.map((it) => `${it.name} ${it.new_pairs}`).join(", ")}.`,
  });
  shown.forEach((it, place) => {
    const y = row * place + 4;
    const name = it.name.length > 24 ? `${it.name.slice(0, 23)}…` : it.name;
    const length = ((width - left - 90) * it.new_pairs) / most;
    chart.append(
      svg("text", { class: "strong", x: left - 10, y: y + 14, "text-anchor": "end", text: name }),
      svg("rect", { x: left, y: y + 3, width: Math.max(1, length), height: 14, rx: 3, fill: "var(--accent)" }),
      svg("text", { x: left + length + 8, y: y + 14, text: `+${figure(it.new_pairs)}` }),
    );
  });
  return chart;
}

function matrixDrawing(matrix) {
  const short = (name) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);
  const longest = Math.max(...matrix.functions.map((name) => short(name).length));
  // The names are drawn aslant above their columns.
  const [cell, left, top] = [16, 170, 22 + Math.ceil(5.8 * longest)];
  const [width, height] = [left + cell * matrix.functions.length + 90, top + cell * matrix.rows.length + 8];
  const drawing = svg("svg", {
    class: "matrix",
    width,
    height,
    role: "img",
    "aria-label": `Which of ${count(matrix.functions.length, "function")} run under which of ${count(matrix.rows.length, "input")}; a table follows.`,
  });
  matrix.functions.forEach((name, at) =>
    drawing.append(
      svg(
        "text",
        {
          transform: `translate(${left + cell * at + 11} ${top - 8}) rotate(-60)`,
          text: short(name),
        },
        svg("title", { text: name }),
      ),
    ),
  );
  matrix.rows.forEach((row, down) => {
    const y = top + cell * down;
    const name = `${row.input}${row.selected ? ` (${row.selected})` : ""}`;
    drawing.append(
      svg(
        "text",
        {
          x: left - 10,
          y: y + 12,
          "text-anchor": "end",
          "font-weight": row.selected ? 700 : 400,
          text: name.length > 22 ? `${name.slice(0, 21)}…` : name,
        },
        svg("title", { text: name }),
      ),
    );
    [...row.cells].forEach((letter, at) => {
      const words = letter === "s" ? "looked at" : letter === "r" ? "ran, not looked at" : "did not run";
      const shape =
        letter === "s"
          ? svg("rect", { class: "chosen", x: left + cell * at + 1, y: y + 1, width: 14, height: 14, rx: 3 })
          : letter === "r"
            ? svg("circle", { class: "ran", cx: left + cell * at + 8, cy: y + 8, r: 4 })
            : svg("rect", { class: "none", x: left + cell * at + 6, y: y + 6, width: 4, height: 4 });
      shape.append(svg("title", { text: `${row.input} · ${matrix.functions[at]}: ${words}` }));
      drawing.append(shape);
    });
  });
  const names = (row, letter) => matrix.functions.filter((_, at) => row.cells[at] === letter).join(", ");
  const more = matrix.functions_left_out
    ? el("p", {
        class: "soft small",
        text: `${count(matrix.functions_left_out, "more function")} left out of the page.`,
      })
    : "";
  return el(
    "div",
    {},
    el("p", {
      class: "soft small",
      text: "A filled square: the function is looked at under this input. A ring: it runs there, but its pairs are covered by other inputs. Numbers give the order of selection.",
    }),
    el("div", { class: "scroll tall" }, drawing),
    more,
    asTable(
      [
        { title: "Input", show: (row) => row.input },
        { title: "Looked at", show: (row) => names(row, "s") },
        { title: "Only ran", show: (row) => names(row, "r") },
      ],
      matrix.rows,
    ),
  );
}

function againstTable(full) {
  const rows = [
    ["Races", full.races],
    ["Atomicity violations", full.atomicity],
  ].filter(([, it]) => it);
  const column = (title, show) => ({ title, number: true, show: ([, it]) => show(it) });
  return el(
    "div",
    { class: "scroll" },
    table(
      [
        { title: "", show: ([name]) => name },
        column("All", (it) => seconds(it.full_s)),
        column("Guided", (it) => seconds(it.guided_s)),
        column("Faster", (it) => `${figure(it.speedup)} ×`),
        column("Found by all", (it) => figure(it.full_unique)),
        column("Guided", (it) => figure(it.unique)),
        column("Missed", (it) => figure(it.missed)),
      ],
      rows,
    ),
  );
}
