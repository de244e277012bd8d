// Coverage, over executions and over time.

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

/** Coverage of nothing cannot be saturated. */
const isNothingToCover = (it) => it.covered === 0 && (it.required ?? it.estimated) === 0;

/** The coverage of a campaign, by one criterion. */
function covering(report, name) {
  const it = report.coverage?.[name];
  if (!it?.history?.length) return null;
  const total = it.required ?? it.estimated ?? (name === "groups" && report.exhausted ? it.tested : undefined);
  return {
    name: report.strategy,
    history: it.history,
    executions: report.executions,
    elapsed_s: report.elapsed_s,
    total,
    estimated: it.estimated !== undefined,
    covered: it.covered ?? it.tested ?? it.pairs,
    saturation: isNothingToCover(it) ? undefined : it.saturation,
    failure: report.failure?.execution,
  };
}

/** The reports of campaigns that differ from one in their strategies only, its own among them. */
function fellows(report, all) {
  const own = all.find((campaign) => campaign.record.report === report);
  // In records without a subject, the program's arguments are at the end of the command line.
  const given = ({ record }) =>
    record.subject
      ? `${record.subject.program} ${record.subject.given}`
      : record.command_line.split(" -- ").slice(1).join(" -- ");
  const same = (campaign) => {
    const other = campaign.record.report;
    const isAlike = ["program", "command"].every((key) => other[key] === report[key]);
    return campaign === own || (isAlike && other.strategy !== report.strategy && given(campaign) === given(own));
  };
  return own ? all.filter(same).map((campaign) => campaign.record.report) : [report];
}

/** The coverage that a campaign measured: a list of criteria, each with its series. */
function measured(report, all = []) {
  const found = [];
  for (const name of Object.keys(report.coverage ?? {})) {
    const own = covering(report, name);
    if (!own) continue;
    const series = fellows(report, all)
      .map((it) => ({ ...covering(it, name), isOwn: it === report }))
      .filter((it) => it.history);
    found.push({
      ...own,
      name,
      series,
      end: Math.max(...series.map((it) => it.executions)),
      time: Math.max(...series.map((it) => it.elapsed_s)),
    });
  }
  const trials = report.trials ?? [];
  for (const name of [...new Set(trials.flatMap((trial) => Object.keys(trial.coverage ?? {})))]) {
    const series = report.strategies.map(({ strategy }) => {
      const own = trials.filter((trial) => trial.strategy === strategy && trial.coverage?.[name]);
      const all = own.map((trial) => trial.coverage[name].history);
      const last = (key) => Math.max(0, ...own.map((trial) => trial[key]));
      const history = median(all);
      const saturations = own
        .map((trial) => trial.coverage[name])
        .filter((it) => it.saturation && !isNothingToCover(it))
        .map((it) => it.saturation);
      return {
        name: strategy,
        own,
        history,
        criterion: name,
        executions: last("executions"),
        elapsed_s: last("elapsed_s"),
        saturation: usualSaturation(saturations, history),
        saturated: saturations.length,
      };
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

/** Where the trials of a strategy are saturated: the median of those that are, on the strategy's own line. */
function usualSaturation(points, history) {
  if (!points.length) return null;
  const middle = (key) => {
    const at = points.map((it) => it[key]).sort((a, b) => a - b)[Math.floor((points.length - 1) / 2)];
    return [at, history[key].reduce((value, [moment, covered]) => (moment <= at ? covered : value), 0)];
  };
  return { executions: middle("executions"), elapsed_s: middle("elapsed_s") };
}

/** The median over trials of the coverage that each had reached by then. */
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

function coverageView(campaign, all) {
  const root = el("section");
  const { report, uncovered } = campaign.record;
  const points = (history, key) => (Array.isArray(history) ? history.map((it) => [it[key], it.covered]) : history[key]);
  for (const it of measured(report, all)) {
    const [title, unit, what] = CRITERIA[it.name] ?? [it.name, "covered", ""];
    const series = (key) =>
      it.series.map((one) => ({
        name: one.isOwn && it.series.length > 1 ? `${one.name} (this campaign)` : one.name,
        points: points(one.history, key),
        end: one[key],
        saturation:
          one.saturation && (one.own ? one.saturation[key] : [one.saturation[key], one.saturation.covered]),
        saturationOf: one.own && `${one.saturated} of ${count(one.own.length, "trial")}`,
        failure: key === "executions" ? one.failure : undefined,
        faint: one.own
          ?.slice(0, 12)
          .map((trial) => ({ points: points(trial.coverage[one.criterion].history, key), end: trial[key] })),
      }));
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
        }),
        stepChart({
          ...common,
          title: "Over time",
          xTitle: "seconds",
          isCounted: false,
          series: series("elapsed_s"),
          end: it.time,
        }),
      ),
    );
    if (it.series.some((one) => one.isOwn) && it.series.length > 1) card.append(strategyTable(it));
    const left = uncovered.find((one) => one.criterion === it.name);
    if (left) card.append(leftTable(campaign, left));
    root.append(card);
  }
  return root;
}

function sentence(it, unit, what) {
  const parts = what ? [`What counts: ${what}.`] : [];
  if (it.covered !== undefined)
    parts.push(
      `${counted(it.covered, unit)}${it.total !== undefined ? ` of ${figure(it.total)} ${it.estimated ? "estimated" : "required"}` : ""}.`,
    );
  if (it.saturation)
    parts.push(`Saturated after ${count(it.saturation.executions, "execution")}: it hardly grew any more.`);
  else if (it.saturation === null) parts.push("It was not saturated when the campaign ended.");
  if (it.series.some((one) => one.own))
    parts.push(
      "Thick lines are medians over the trials of a strategy, and end with the last execution of any; thin ones are trials. A trial ends with its first failure. Saturation is marked at the median of the trials that were saturated.",
    );
  else if (it.series.length > 1)
    parts.push("The other lines are campaigns in the same folder that differ in their strategy only.");
  return parts.join(" ");
}

/** The coverage that each strategy reached. */
function strategyTable(it) {
  const columns = [
    { title: "Strategy", show: (one) => `${one.name}${one.isOwn ? " (this campaign)" : ""}` },
    { title: "Covered", number: true, show: (one) => figure(one.covered) },
    { title: "Of", number: true, show: (one) => figure(one.total) },
    { title: "Executions", number: true, show: (one) => figure(one.executions) },
    { title: "Saturated after", number: true, show: (one) => figure(one.saturation?.executions) },
    { title: "Failed in execution", number: true, show: (one) => figure(one.failure) },
  ];
  return el("div", { class: "scroll" }, table(columns, it.series, { class: "strategies" }));
}

/** A place with the text of its line. */
function spot(campaign, place) {
  return el(
    "div",
    {},
    el("strong", { text: place.label }),
    place.function ? ` in ${place.function}` : "",
    el("div", {}, el("code", { class: "soft", text: sourceLine(campaign, place) })),
  );
}

/** The sentence where nothing is left uncovered. */
const NOTHING_LEFT = {
  sp: "Nothing that is required is left.",
  map: "No pattern is left that the accesses seen could make.",
  groups: "No question is left among those that can be asked.",
  cfp: "Every two functions that run while other threads do are shown at the same time by some input.",
};

/** A table of what is left uncovered. */
function leftToTry(left, what, columns, rows, words) {
  if (!rows.length) return el("p", { class: "small", text: NOTHING_LEFT[left.criterion] ?? NOTHING_LEFT.sp });
  return el(
    "div",
    {},
    el("h3", { text: "Not covered, or not possible: what to try next" }),
    words ? el("p", { class: "soft small", text: words }) : "",
    el("div", { class: "tall" }, table(columns, rows, { class: "uncovered" })),
    left.left_out
      ? el("p", { class: "soft small", text: `${count(left.left_out, `more ${what}`)} left out of the page.` })
      : "",
    left.is_cut ? el("p", { class: "soft small", text: "There may be still more: not all were looked at." }) : "",
  );
}

function leftTable(campaign, left) {
  if (left.criterion === "groups") return questionTable(campaign, left);
  return left.patterns?.length ? patternTable(campaign, left) : uncoveredTable(campaign, left);
}

function questionTable(campaign, left) {
  const places = (row) =>
    row.places.length
      ? el(
          "div",
          {},
          row.places.map((place) => spot(campaign, place)),
        )
      : "all threads";
  const columns = [
    { title: "What may be possible", show: (row) => row.question },
    { title: "Where", show: places },
    { title: "Questions", number: true, show: (row) => figure(row.count) },
  ];
  const words =
    "Questions that were not asked when it ended, with other values and other steps before. Each may lead to another group, or turn out to be impossible.";
  return leftToTry(left, "kind of question", columns, left.questions, words);
}

function uncoveredTable(campaign, left) {
  const isOfFunctions = left.criterion === "cfp";
  const [one, other] = isOfFunctions ? ["Function", "With"] : ["First", "Then"];
  const columns = [
    { title: one, show: ([first]) => spot(campaign, first) },
    { title: other, show: ([, second]) => spot(campaign, second) },
  ];
  const words = isOfFunctions
    ? "Each of these functions runs while another thread runs, but no input shows the two at the same time: an input that does would be new."
    : "";
  return leftToTry(left, "pair", columns, left.pairs, words);
}

function patternTable(campaign, left) {
  const longest = Math.max(...left.patterns.map((row) => row.places.length));
  const step = (at) => (row) =>
    at < row.places.length
      ? el("div", {}, el("em", { text: row.operations[at] }), " ", spot(campaign, left.places[row.places[at]]))
      : "";
  // Records of earlier versions name one variable.
  const variables = (row) => row.variables ?? [row.object ?? "without a name"];
  const columns = [
    { title: "Variables", show: (row) => variables(row).join(", ") },
    { title: "Pattern", number: true, show: (row) => row.pattern },
    ...Array.from({ length: longest }, (_, at) => ({ title: at ? "Then" : "First", show: step(at) })),
  ];
  const words =
    "Candidates: accesses that executions have shown could follow each other like this, a and b being two threads. " +
    "Creation, joins, locks and a thread's own writes speak against none of them; a wait or a branch may, so not " +
    "all of them are possible. Those of one variable (patterns 1 to 8) come first.";
  return leftToTry(left, "pattern", columns, left.patterns, words);
}
