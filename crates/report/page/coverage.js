// What was covered, over executions and over time.

const CRITERIA = {
  sp: ["Synchronization pairs", "pairs", "two places that take the same lock one after the other"],
  "sp-refined": [
    "Synchronization pairs, refined",
    "pairs",
    "the same, estimated with joins, barriers and condition variables",
  ],
  map: ["Memory-access patterns", "patterns", "how accesses of two threads to shared memory follow each other"],
  "def-use": ["Def-use pairs", "pairs", "a place that writes shared memory, and one that reads the value"],
  "concurrent-pairs": [
    "Concurrent pairs",
    "pairs",
    "two places that different threads executed one right after the other",
  ],
  cfp: ["Concurrent function pairs", "pairs", "two functions that can run at the same time"],
  groups: [
    "Race-equivalent groups",
    "groups",
    "interleavings in which every thread makes the same accesses under the same locks",
  ],
};

/** What was measured in a campaign: a list of criteria, each with its series. */
function measured(report) {
  const found = [];
  for (const [name, it] of Object.entries(report.coverage ?? {})) {
    if (!it?.history?.length) continue;
    const total = it.required ?? it.estimated ?? (name === "groups" && report.exhausted ? it.tested : undefined);
    found.push({
      name,
      end: report.executions,
      time: report.elapsed_s,
      total,
      estimated: it.estimated !== undefined,
      covered: it.covered ?? it.tested ?? it.pairs,
      saturation: it.saturation,
      series: [{ name: report.strategy, history: it.history }],
      failure: report.failure?.execution,
    });
  }
  const trials = report.trials ?? [];
  for (const name of [...new Set(trials.flatMap((trial) => Object.keys(trial.coverage ?? {})))]) {
    const series = report.strategies.map(({ strategy }) => {
      const own = trials.filter((trial) => trial.strategy === strategy && trial.coverage?.[name]);
      const all = own.map((trial) => trial.coverage[name].history);
      return { name: strategy, own, history: median(all), criterion: name };
    });
    const totals = trials.map((trial) => trial.coverage?.[name]).map((it) => it?.required ?? it?.estimated ?? 0);
    found.push({
      name,
      total: Math.max(...totals) || undefined,
      estimated: true,
      series,
      end: Math.max(...trials.map((trial) => trial.executions)),
      time: Math.max(...trials.map((trial) => trial.elapsed_s)),
    });
  }
  return found;
}

/** The median over trials of what each had covered by then. */
function median(all) {
  if (!all.length) return [];
  const middle = (key) => {
    const moments = [...new Set(all.flatMap((history) => history.map((it) => it[key])))].sort((a, b) => a - b);
    const at = (history, moment) => history.reduce((value, it) => (it[key] <= moment ? it.covered : value), 0);
    return moments.map((moment) => [
      moment,
      all.map((history) => at(history, moment)).sort((a, b) => a - b)[Math.floor((all.length - 1) / 2)],
    ]);
  };
  return { executions: middle("executions"), elapsed_s: middle("elapsed_s") };
}

function coverageView(campaign) {
  const root = el("section");
  const { report, uncovered } = campaign.record;
  const points = (history, key) => (Array.isArray(history) ? history.map((it) => [it[key], it.covered]) : history[key]);
  for (const it of measured(report)) {
    const [title, unit, what] = CRITERIA[it.name] ?? [it.name, "covered", ""];
    const series = (key) =>
      it.series.map((one) => ({
        name: one.name,
        points: points(one.history, key),
        faint: one.own
          ?.slice(0, 12)
          .map((trial) => ({ points: points(trial.coverage[one.criterion].history, key), end: trial[key] })),
      }));
    const saturation = (key) => it.saturation && [it.saturation[key], it.saturation.covered];
    const common = { unit, target: it.total };
    const card = el(
      "div",
      { class: "card measure", "data-criterion": it.name },
      el("h2", { text: title }),
      el("p", { class: "soft small", text: sentence(it, unit, what) }),
    );
    card.append(
      el(
        "div",
        { class: "charts" },
        stepChart({
          ...common,
          title: "Over executions",
          xTitle: "executions",
          series: series("executions"),
          end: it.end,
          saturation: saturation("executions"),
          failure: it.failure,
        }),
        stepChart({
          ...common,
          title: "Over time",
          xTitle: "seconds",
          series: series("elapsed_s"),
          end: it.time,
          saturation: saturation("elapsed_s"),
        }),
      ),
    );
    const left = uncovered.find((one) => one.criterion === it.name);
    if (left) card.append(uncoveredTable(campaign, left));
    root.append(card);
  }
  return root;
}

function sentence(it, unit, what) {
  const parts = what ? [`What counts: ${what}.`] : [];
  if (it.covered !== undefined)
    parts.push(
      `${figure(it.covered)} ${unit}${it.total ? ` of ${figure(it.total)} ${it.estimated ? "estimated" : "required"}` : ""}.`,
    );
  if (it.saturation)
    parts.push(`Saturated after ${count(it.saturation.executions, "execution")}: it hardly grew any more.`);
  else if (it.saturation === null) parts.push("It was not saturated when the campaign ended.");
  if (it.series.length > 1)
    parts.push("Thick lines are medians over the trials of a strategy; a trial ends with its first failure.");
  return parts.join(" ");
}

function uncoveredTable(campaign, left) {
  if (!left.pairs.length) return el("p", { class: "small", text: "Nothing that is required is left." });
  const spot = (place) =>
    el(
      "div",
      {},
      el("strong", { text: place.label }),
      place.function ? ` in ${place.function}` : "",
      el("div", {}, el("code", { class: "soft", text: sourceLine(campaign, place) })),
    );
  const more = left.left_out
    ? el("p", { class: "soft small", text: `${count(left.left_out, "more pair")} left out of the page.` })
    : "";
  return el(
    "div",
    {},
    el("h3", { text: "Not covered, or not possible: what to try next" }),
    el(
      "div",
      { class: "tall" },
      table(
        [
          { title: "First", show: ([first]) => spot(first) },
          { title: "Then", show: ([, second]) => spot(second) },
        ],
        left.pairs,
        { class: "uncovered" },
      ),
    ),
    more,
  );
}
