// Strategies side by side.

const stars = (p) => (p < 0.001 ? "***" : p < 0.01 ? "**" : p < 0.05 ? "*" : "");

/** Whether a figure is a lower bound. Records of earlier versions have one mark for all figures except the deviation. */
const isLowerBound = (it, key) => it.lower_bounds?.[key] ?? (key !== "sd" && it.executions_are_lower_bounds);

/** The executions that a trial counts as: where none failed, the next one is the first that can. */
const countedAs = (trial) => trial.executions + (trial.failed ? 0 : 1);

/** A number of executions, marked if it is a lower bound; none if there is no trial. */
const executionsText = (it, key) =>
  it.trials === 0 ? "–" : `${isLowerBound(it, key) ? "≥ " : ""}${figure(it.executions[key])}`;

function compareView(campaign) {
  const { report } = campaign.record;
  const state = { log: Math.max(...report.strategies.map((it) => it.executions.max)) > 50 };
  const root = el("section");
  const holder = el("div");
  const csv = () => {
    const quoted = (value) =>
      /[",\n\r]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
    const names = ["strategy", "run", "seed", "failed", "executions", "steps", "elapsed_s", "end"];
    return (
      [names, ...report.trials.map((trial) => names.map((name) => trial[name]))]
        .map((row) => row.map(quoted).join(","))
        .join("\n") + "\n"
    );
  };
  root.csv = csv;
  const versus = (it) => it.first_versus_this;
  const verdict = (it) => {
    const against = versus(it);
    if (!against) return "the others are compared with it";
    if (against.p_corrected >= 0.05) return "no significant difference";
    return `${against.cliffs_delta < 0 ? report.strategies[0].strategy : it.strategy} needs fewer executions (${against.magnitude})`;
  };
  const draw = () => {
    const scale = el("button", {
      type: "button",
      text: "Logarithmic scale",
      "aria-pressed": String(state.log),
      onclick: () => {
        state.log = !state.log;
        draw();
      },
    });
    const save = el("button", {
      type: "button",
      id: "csv",
      text: "Download CSV",
      onclick: () => download(`${lastPart(report.program)}-compare.csv`, "text/csv", csv()),
    });
    holder.replaceChildren(el("div", { class: "bar" }, scale, save), boxPlots(report, state.log));
  };
  draw();
  const columns = [
    { title: "Strategy", show: (it) => it.strategy },
    { title: "Failed", number: true, show: (it) => `${it.failed}/${it.trials}` },
    ...["mean", "median", "q1", "q3", "sd", "min", "max"].map((key) => ({
      title: key,
      number: true,
      show: (it) => executionsText(it, key),
    })),
    { title: "Time", number: true, show: (it) => (it.trials === 0 ? "–" : seconds(it.time_s.mean)) },
    { title: "p", number: true, show: (it) => (versus(it) ? figure(versus(it).p_corrected) : "") },
    { title: "δ", number: true, show: (it) => (versus(it) ? figure(versus(it).cliffs_delta) : "") },
    { title: "", show: verdict },
  ];
  root.append(
    el(
      "div",
      { class: "card" },
      el("h2", { text: "Executions to the first failure" }),
      holder,
      el("p", {
        class: "soft small",
        text: "A box holds the middle half of the trials, its line is the median, the diamond the mean; whiskers reach to the smallest and largest. Each trial is a dot; a hollow triangle is a trial that did not fail, and counts as if the next execution had.",
      }),
      el("p", {
        class: "soft small",
        text: `*, **, ***: p below 0.05, 0.01, 0.001 in a Wilcoxon signed-rank test against ${report.strategies[0]?.strategy ?? "the first"}, after Bonferroni's correction.`,
      }),
    ),
    el("div", { class: "card scroll" }, table(columns, report.strategies, { id: "strategies" })),
  );
  return root;
}

function boxPlots(report, log) {
  // A drawing is as wide as its window, so that its words keep their size.
  const width = Math.max(360, Math.min(860, window.innerWidth - 60));
  const [row, left, right, top] = [54, width < 600 ? 105 : 150, 40, 10];
  const height = top + row * report.strategies.length + 40;
  const most = Math.max(1, ...report.trials.map(countedAs));
  const marks = log
    ? Array.from({ length: Math.ceil(Math.log10(most)) + 1 }, (_, power) => 10 ** power)
    : ticks(most, 6);
  const end = marks[marks.length - 1] === 1 ? 10 : marks[marks.length - 1];
  const place = (value) => (log ? Math.log10(Math.max(1, value)) / Math.log10(end) : value / end);
  const x = (value) => left + (width - left - right) * place(value);
  const said = report.strategies
    .map((it) => `${it.strategy}: median ${executionsText(it, "median")}, ${it.failed} of ${it.trials} trials failed`)
    .join("; ");
  const chart = svg("svg", {
    class: "chart wide",
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `Executions to the first failure. ${said}.`,
  });
  for (const at of marks)
    chart.append(
      svg("line", { class: "grid", x1: x(at), x2: x(at), y1: top, y2: height - 34 }),
      svg("text", { x: x(at), y: height - 20, "text-anchor": "middle", text: figure(at) }),
    );
  chart.append(svg("text", { x: width - right, y: height - 4, "text-anchor": "end", text: "executions" }));
  report.strategies.forEach((it, index) => {
    const y = top + row * index + row / 2;
    const [figures, colour] = [it.executions, threadColour(index)];
    const line = (from, to, more = {}) =>
      svg("line", { x1: x(from), x2: x(to), y1: y, y2: y, stroke: colour, "stroke-width": 1.5, ...more });
    const group = svg("g", { class: "box", "data-strategy": it.strategy });
    group.append(svg("text", { class: "strong", x: left - 12, y: y + 4, "text-anchor": "end", text: it.strategy }));
    chart.append(group);
    if (it.trials === 0) {
      group.append(svg("text", { x: left + 8, y: y + 4, text: "no trial has ended" }));
      return;
    }
    group.append(line(figures.min, figures.q1), line(figures.q3, figures.max));
    for (const end of [figures.min, figures.max])
      group.append(svg("line", { x1: x(end), x2: x(end), y1: y - 7, y2: y + 7, stroke: colour }));
    group.append(
      svg("rect", {
        x: x(figures.q1),
        y: y - 13,
        width: Math.max(2, x(figures.q3) - x(figures.q1)),
        height: 26,
        rx: 3,
        fill: colour,
        "fill-opacity": 0.16,
        stroke: colour,
      }),
      svg("line", {
        x1: x(figures.median),
        x2: x(figures.median),
        y1: y - 13,
        y2: y + 13,
        stroke: colour,
        "stroke-width": 3,
      }),
      svg("path", {
        d: "M0-5L5 0L0 5L-5 0Z",
        fill: "var(--card)",
        stroke: colour,
        transform: `translate(${x(figures.mean)} ${y})`,
      }),
    );
    report.trials
      .filter((trial) => trial.strategy === it.strategy)
      .forEach((trial, number) => {
        const at = `translate(${x(countedAs(trial))} ${y + 17 + (number % 3) * 3})`;
        group.append(
          trial.failed
            ? svg("circle", { r: 2, fill: colour, opacity: 0.7, transform: at })
            : svg("path", { class: "unfailed", d: "M-3-3L4 0L-3 3Z", fill: "none", stroke: colour, transform: at }),
        );
      });
    const mark = it.first_versus_this && stars(it.first_versus_this.p_corrected);
    if (mark)
      group.append(
        svg(
          "text",
          { class: "strong significance", x: width - right + 14, y: y + 5, text: mark },
          svg("title", { text: `p = ${figure(it.first_versus_this.p_corrected)}` }),
        ),
      );
  });
  return el("div", { class: "scroll" }, chart);
}
