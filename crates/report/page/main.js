// Puts the page together: the head, the tabs, and the keys.

const VERDICTS = {
  failure: ["✗", "failure found"],
  findings: ["●", "findings"],
  clean: ["✓", "nothing found"],
  exhausted: ["✓", "exhausted: nothing is left to try"],
  interrupted: ["◐", "interrupted: nothing found so far"],
  unfinished: ["◐", "nothing found, not exhausted"],
};

/** The verdict of a campaign. One that was interrupted, or was to explore all interleavings and did not, is not called clean. */
function verdictOf(report) {
  if (report.verdict !== "clean") return report.verdict;
  if (report.interrupted) return "interrupted";
  return report.command === "verify" ? "unfinished" : "clean";
}
let current = null;

function showHelp() {
  document.getElementById("help").showModal();
}

function helpDialog() {
  const keys = [
    ["↑ ↓", "the step before, the step after"],
    ["← →", "the same within one thread"],
    ["+ −", "zoom, also the graph"],
    ["0", "the whole graph"],
    ["f", "fold or unfold long runs"],
    ["o", "go between the minimised and the original schedule"],
    ["/", "filter steps"],
    ["Esc", "clear the filters"],
    ["1 … 6", "the views"],
    ["?", "this help"],
  ];
  return el(
    "dialog",
    { id: "help", "aria-label": "Help and keys" },
    el("h2", { text: "Keys" }),
    el(
      "dl",
      {},
      keys.flatMap(([key, what]) => [el("dt", {}, el("kbd", { text: key })), el("dd", { text: what })]),
    ),
    el("p", {
      class: "small soft",
      text: "Time runs from top to bottom, a step a row. What has a yellow ground is pointed out: it is what the failure or the finding is put down to.",
    }),
    el("form", { method: "dialog" }, el("button", { text: "Close" })),
  );
}

function themeButton() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.style.colorScheme || (system.matches ? "dark" : "light")) === "dark";
  const button = el("button", { type: "button", id: "theme" });
  const name = () => (button.textContent = isDark() ? "Light" : "Dark");
  button.addEventListener("click", () => {
    root.style.colorScheme = isDark() ? "light" : "dark";
    name();
  });
  system.addEventListener("change", name);
  name();
  return button;
}

/** What a person pastes into a bug report. */
function bugReport(campaign) {
  const { report, command_line: typed, compilers } = campaign.record;
  const lines = [
    `threadbare ${report.version ?? ""}: ${VERDICTS[verdictOf(report)]?.[1] ?? "trace"}`,
    `Command: ${typed}`,
    `Compiler: ${compilers.join("; ") || "unknown"}`,
    `Seed: ${report.seed ?? "–"}; ${counted(report.executions, "executions")}`,
  ];
  if (report.interrupted) lines.push("It was interrupted: more may be left.");
  (report.failures ?? []).forEach((failure, index) => {
    lines.push("", `Failure: ${failure.kind}${failure.site ? ` at ${failure.site}` : ""}`, failure.message);
    if (failure.cause) lines.push(`Cause: ${failure.cause}.`);
    if (campaign.record.failures[index]?.replay) lines.push(`Again: ${campaign.record.failures[index].replay}`);
    const interleaving = campaign.interleavings[interleavingOf(campaign, "failure", index)]?.main;
    interleaving?.steps.forEach((step) =>
      lines.push(
        `  ${step.number}. T${step.thread} ${step.text}${step.place === undefined ? "" : ` (${interleaving.places[step.place].label})`}`,
      ),
    );
  });
  (report.findings ?? []).forEach((finding, index) => {
    lines.push("", `${finding.confirmed ? "Confirmed" : finding.seen ? "Seen" : "Predicted"} ${finding.kind}: ${finding.message}`);
    const again = campaign.record.findings[index]?.replay;
    if (again) lines.push(`Again: ${again}`);
  });
  return `${lines.join("\n")}\n`;
}

function head(campaign) {
  const { report, command_line: typed, compilers } = campaign.record;
  const verdict = VERDICTS[verdictOf(report)];
  const facts = [];
  const fact = (value, name) => value !== undefined && value !== null && value !== "–" && facts.push([value, name]);
  const number = (value, name) => fact(figure(value), plural(value, name));
  if (report.command !== "compare") {
    number(report.executions, "executions");
    number(report.steps, "steps");
    number(report.threads, "threads");
    if (report.executions_per_s) fact(figure(report.executions_per_s), "executions a second");
  } else {
    number(report.strategies.length, "strategies");
    fact(figure(report.runs), "trials of each");
    fact(figure(report.executions), "executions at most");
  }
  if (report.elapsed_s !== undefined) fact(seconds(report.elapsed_s), "time");
  fact(report.strategy, "strategy");
  if (report.seed !== undefined) fact(String(report.seed), "seed");
  const notes = [...(report.warnings ?? []), ...campaign.notes];
  if (report.interrupted) notes.push("It was interrupted: more may be left.");
  (report.failures ?? []).forEach((failure, index) => {
    if (interleavingOf(campaign, "failure", index) >= 0) return;
    const again = failure.schedule ? ` To see it: threadbare replay ${failure.schedule}` : "";
    const what = `${failure.kind}${failure.site ? ` at ${failure.site}` : ""}: ${failure.message.trim()}`;
    const stop = /[.!?]$/.test(what) ? "" : ".";
    const trace = campaign.record.failures[index]?.trace ? "Its trace is not there, or damaged." : "No trace of it was kept.";
    notes.push(`${what}${stop} ${trace}${again}`);
  });
  return [
    el(
      "div",
      { class: "title" },
      el("h1", { text: lastPart(report.program) || campaign.title }),
      verdict
        ? el(
            "span",
            { class: `badge ${verdictOf(report)}`, id: "verdict" },
            el("span", { "aria-hidden": "true", text: verdict[0] }),
            verdict[1],
          )
        : "",
    ),
    el(
      "p",
      { class: "command" },
      el("code", { text: typed }),
      compilers.length ? el("span", { class: "small", text: `  ·  ${compilers.join("; ")}` }) : "",
    ),
    el(
      "ul",
      { class: "tiles", id: "facts" },
      facts.map(([value, name]) => el("li", {}, el("b", { text: value }), el("span", { text: name }))),
    ),
    ...notes.map((note) => el("p", { class: "note small", text: note })),
  ];
}

/** A view, or the reason why it cannot be drawn: a record is not checked as a whole beforehand. */
function attempt(make) {
  try {
    return make();
  } catch (error) {
    const text = `The record of this campaign is damaged, so this cannot be drawn (${error.message}).`;
    return el("p", { class: "note", text });
  }
}

/** The views that a campaign has data for: a key, a title, a count, and how the view is made. */
function views(campaign, all, go) {
  const { report, graphs } = campaign.record;
  return [
    campaign.interleavings.length && [
      "interleaving",
      "Interleavings",
      campaign.interleavings.length,
      () => interleavingView(campaign),
    ],
    report.findings?.length && [
      "findings",
      "Findings",
      report.findings.length,
      () => findingsView(campaign, (kind, index) => go("interleaving", (view) => view.show(kind, index))),
    ],
    report.strategies?.length &&
      report.trials && ["compare", "Compare", report.strategies.length, () => compareView(campaign)],
    report.inputs?.length && ["suite", "Suite", report.inputs.length, () => suiteView(campaign)],
    measured(report).length && ["coverage", "Coverage", measured(report).length, () => coverageView(campaign, all)],
    graphs?.graphs.length && ["graph", "Graph", graphs.graphs.length, () => graphView(campaign)],
  ].filter(Boolean);
}

function start(data) {
  const top = el("header", { class: "top" });
  const tabs = el("div", { role: "tablist", "aria-label": "Views" });
  const main = el("main", { id: "main" });
  const about = el("div");
  const picker =
    data.campaigns.length > 1 &&
    el(
      "label",
      {},
      "Campaign ",
      el(
        "select",
        { id: "pick-campaign", onchange: (event) => open(Number(event.target.value)) },
        data.campaigns.map((it, at) => el("option", { value: at, text: it.title })),
      ),
    );
  const report = copyButton("Copy for a bug report", () => bugReport(data.campaigns[current.index]));
  top.append(
    el(
      "div",
      { class: "brand" },
      el("strong", { text: "threadbare" }),
      picker || "",
      el("span", { class: "push" }),
      report,
      el("button", { type: "button", text: "Keys", onclick: showHelp }),
      themeButton(),
    ),
    about,
  );
  document.body.append(top, el("nav", { class: "tabs" }, tabs), main, helpDialog());

  function open(index, wanted) {
    const campaign = data.campaigns[index];
    current = { index, campaign, views: [], made: new Map() };
    about.replaceChildren(...head(campaign));
    current.views = views(campaign, data.campaigns, go);
    const one = ([key, title, number], place) =>
      el(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${key}`,
          "aria-controls": "main",
          "aria-selected": "false",
          tabindex: -1,
          onclick: () => go(key),
          onkeydown: (event) => along(event, place),
        },
        title,
        el("span", { class: "count", text: number }),
      );
    tabs.replaceChildren(...current.views.map(one));
    if (picker) picker.querySelector("select").value = index;
    const [first] = current.views.find(([key]) => key === wanted) ?? current.views[0] ?? [];
    if (first) go(first);
    else {
      tellAddress();
      main.replaceChildren(
        el("p", {
          class: "soft",
          text: "There is nothing to draw: no failure, no finding, and nothing was measured. Try --coverage sp,map.",
        }),
      );
    }
  }

  /** Puts what is shown into the address and the tab's title, so that it can be bookmarked and shared. */
  function tellAddress(key, title) {
    const { campaign } = current;
    document.title = [campaign.title, title, "threadbare"].filter(Boolean).join(" · ");
    const said = new URLSearchParams({ campaign: campaign.title, ...(key ? { view: key } : {}) }).toString();
    if (said === location.hash.slice(1)) return;
    // Changing tabs adds nothing to the history. A browser may forbid this to pages from disk; then the address itself is
    // set.
    try {
      history.replaceState(null, "", `#${said}`);
    } catch {
      location.hash = said;
    }
  }

  /** Shows what the address asks for: a campaign by its title and a view of it, or else the first ones. */
  function follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const index = data.campaigns.findIndex((it) => it.title === asked.get("campaign"));
    const view = asked.get("view") ?? undefined;
    const isShown = current && current.campaign === data.campaigns[index] && current.key === view;
    if (!isShown) open(Math.max(0, index), view);
  }

  function go(key, then) {
    const [, title, , make] = current.views.find(([name]) => name === key);
    current.key = key;
    tellAddress(key, title);
    for (const tab of tabs.children) {
      const isChosen = tab.id === `tab-${key}`;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
    const isNew = !current.made.has(key);
    if (isNew) current.made.set(key, attempt(make));
    const view = current.made.get(key);
    current.view = view;
    main.replaceChildren(view);
    if (isNew) view.arrive?.();
    then?.(view);
  }

  function along(event, place) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = (place + by + current.views.length) % current.views.length;
    go(current.views[next][0]);
    tabs.children[next].focus();
    event.preventDefault();
    event.stopPropagation();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (isTyping && event.key !== "Escape") return;
    const number = Number(event.key);
    const act =
      event.key === "?"
        ? showHelp
        : number >= 1 && current.views[number - 1]
          ? () => go(current.views[number - 1][0])
          : current.view?.keys?.[event.key];
    if (!act) return;
    event.preventDefault();
    if (isTyping) event.target.blur();
    act();
  });
  addEventListener("hashchange", follow);
  follow();
}

start(JSON.parse(document.getElementById("data").textContent));
