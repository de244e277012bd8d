// The view of interleavings: lanes, the selected step, and its source.

function interleavingView(campaign) {
  const state = {
    interleaving: 0,
    both: window.innerWidth > 1000,
    zoom: 3,
    fold: true,
    object: "",
    text: "",
    panes: [],
    active: 0,
  };
  const root = el("section");
  const toolbar = el("div", { class: "bar" });
  const about = el("div");
  const panes = el("div", { class: "panes" });
  const inspector = el("aside", { class: "card inspector", "aria-live": "polite", "aria-label": "The chosen step" });
  const below = el("div");
  const tip = el("div", { class: "tip hidden", role: "tooltip" });
  root.append(toolbar, about, el("div", { class: "interleaving" }, panes, inspector), below, tip);

  const interleavings = () => campaign.interleavings[state.interleaving];
  const shown = () =>
    [
      ["main", interleavings().main],
      ["original", interleavings().original],
    ].filter(([which, it]) => it && (which === "main" || state.both));

  /** The steps that match the filters; null where there is no filter. */
  function filterOf(interleaving) {
    const words = state.text.trim().toLowerCase();
    if (!words && !state.object) return null;
    return (step) => {
      const object = step.object === undefined ? "" : interleaving.objects[step.object];
      const place = step.place === undefined ? "" : interleaving.places[step.place].label;
      const all = `${step.text} ${object} ${place} t${step.thread}`.toLowerCase();
      return (!state.object || object === state.object) && all.includes(words);
    };
  }

  function choose(index) {
    state.interleaving = index;
    const { main, original } = interleavings();
    const view = (name, interleaving) => ({
      name,
      interleaving,
      zoom: state.zoom,
      fold: state.fold,
      unfolded: new Set(),
      selected: null,
      select: (step) => select(name, step),
      unfold: (step) => {
        paneOf(name).view.unfolded.add(step);
        draw();
      },
      hover: (event, step) => hover(event, interleaving, step),
    });
    state.panes = [
      ["main", main],
      ["original", original],
    ]
      .filter(([, it]) => it)
      .map(([name, it]) => ({ name, interleaving: it, view: view(name, it) }));
    state.active = 0;
    state.object = "";
    drawToolbar();
    drawAbout();
    draw();
    // The first step of the witness is selected at first.
    const first = main ? main.steps.findIndex((step) => step.marked) : -1;
    if (main) select("main", first >= 0 ? first : main.failure ? "failure" : 0, false);
    const failure = document.getElementById("original-step-failure");
    if (failure) reveal(failure);
  }

  const paneOf = (name) => state.panes.find((pane) => pane.name === name);

  function drawToolbar() {
    const { main, original } = interleavings();
    const objects = [...new Set([main, original].filter(Boolean).flatMap((it) => it.objects))].sort();
    const press = (label, title, act) =>
      el("button", { type: "button", title, "aria-label": title, text: label, onclick: act });
    const picker =
      campaign.interleavings.length > 1 &&
      el(
        "label",
        {},
        "Show ",
        options(
          campaign.interleavings.map((it, at) => [at, it.title]),
          state.interleaving,
          (value) => choose(Number(value)),
          "pick-interleaving",
        ),
      );
    const both =
      original &&
      el(
        "span",
        { class: "group", role: "group", "aria-label": "Schedules" },
        el("button", {
          type: "button",
          text: "Minimised",
          "aria-pressed": String(!state.both),
          onclick: () => {
            state.both = false;
            drawToolbar();
            draw();
          },
        }),
        el("button", {
          type: "button",
          text: "Beside the original",
          "aria-pressed": String(state.both),
          onclick: () => {
            state.both = true;
            drawToolbar();
            draw();
          },
        }),
      );
    const pick = el(
      "label",
      {},
      "Object ",
      options(
        [["", "all"], ...objects.map((it) => [it, it])],
        state.object,
        (value) => {
          state.object = value;
          draw();
        },
        "pick-object",
      ),
    );
    const filter = el("input", {
      type: "search",
      id: "filter",
      placeholder: "Filter steps ( / )",
      "aria-label": "Filter steps",
      oninput: (event) => {
        state.text = event.target.value;
        draw();
      },
    });
    filter.value = state.text;
    const zoom = el(
      "span",
      { class: "group", role: "group", "aria-label": "Zoom" },
      press("−", "Zoom out", () => zoomBy(-1)),
      press("+", "Zoom in", () => zoomBy(1)),
    );
    const fold = el("button", {
      type: "button",
      id: "fold",
      text: "Fold long runs",
      "aria-pressed": String(state.fold),
      onclick: toggleFold,
    });
    toolbar.replaceChildren(
      ...[picker, both, pick, filter, zoom, fold, press("?", "Help and keys", showHelp)].filter(Boolean),
    );
  }

  function options(pairs, value, act, id) {
    const list = el(
      "select",
      { id, onchange: (event) => act(event.target.value) },
      pairs.map(([key, label]) => el("option", { value: key, text: label })),
    );
    list.value = value;
    return list;
  }

  function drawAbout() {
    const { of, main } = interleavings();
    const parts = [];
    if (of && of[0] === "failure") parts.push(...failureWords(campaign, of[1]));
    else if (main?.shows) parts.push(el("p", { text: `${main.shows}.` }));
    about.replaceChildren(...parts);
  }

  function draw() {
    // The step under the pointer may have moved.
    tip.classList.add("hidden");
    const scrolled = new Map(
      [...panes.querySelectorAll(".pane")].map((it) => [it.id, windowOf(it.querySelector(".lanes"))]),
    );
    panes.replaceChildren();
    const holders = shown().map(([name, interleaving]) => {
      const holder = el("div", { class: "lanes" });
      panes.append(
        el("div", { class: "card pane", id: `pane-${name}` }, el("header", {}, paneTitle(name, interleaving)), holder),
      );
      return [name, interleaving, holder];
    });
    // All panes have to be there before the width of one is known.
    for (const [name, interleaving, holder] of holders) {
      const pane = paneOf(name);
      Object.assign(pane.view, { zoom: state.zoom, fold: state.fold, filter: filterOf(interleaving) });
      pane.drawn = drawLanes(interleaving, pane.view, Math.max(280, holder.clientWidth - 4));
      holder.append(pane.drawn.head, pane.drawn.body);
      const before = scrolled.get(`pane-${name}`);
      holder.scrollTop = before?.top ?? 0;
      holder.scrollLeft = before?.left ?? 0;
      const follow = () => pane.drawn.follow(holder.scrollLeft);
      holder.addEventListener("scroll", follow);
      follow();
    }
    drawBelow();
  }

  function paneTitle(name, interleaving) {
    const label = name === "original" ? "As it was found" : interleavings().original ? "Minimised" : interleaving.title;
    return [
      el("h3", { text: label }),
      el("span", { class: "soft small", text: `${count(interleaving.total, "step")}, ${count(interleaving.preemptions, "preemption")}` }),
    ];
  }

  function drawBelow() {
    const used = new Set(shown().flatMap(([, interleaving]) => interleaving.steps.map((step) => step.mark)));
    const line = (kind, words) =>
      el(
        "li",
        {},
        el(
          "span",
          { class: "lanes" },
          svg("svg", { width: 26, height: 10, "aria-hidden": "true" }, svg("path", { class: kind, d: "M1 5H25" })),
        ),
        words,
      );
    const legend = el(
      "ul",
      { class: "legend", "aria-label": "Legend" },
      markLegend(Object.keys(MARKS).filter((kind) => used.has(kind))),
      line("link reads-from", "reads what was written"),
      line("link fork", "creates or joins"),
      line("link wakes", "wakes"),
      line("control preempts", "preemption"),
      el(
        "li",
        {},
        el(
          "span",
          { class: "lanes" },
          svg(
            "svg",
            { width: 8, height: 14, "aria-hidden": "true" },
            svg("rect", { class: "span", x: 2, width: 4, height: 14, rx: 2, fill: "var(--soft)" }),
          ),
        ),
        "holds a lock",
      ),
    );
    const rows = shown().flatMap(([name, interleaving]) => interleaving.steps.map((step) => ({ name, interleaving, step })));
    const steps = asTable(
      [
        { title: "Schedule", show: ({ name }) => (name === "main" ? "minimised" : "original") },
        { title: "Step", number: true, show: ({ step }) => step.number },
        { title: "Thread", show: ({ step }) => `T${step.thread}` },
        { title: "What", show: ({ step }) => step.text },
        { title: "Where", show: ({ interleaving, step }) => (step.place === undefined ? "" : interleaving.places[step.place].label) },
        { title: "Holds", show: ({ step }) => step.locks ?? "" },
      ],
      rows,
      "The steps as a table",
    );
    const { output } = interleavings();
    const printed =
      output &&
      el(
        "details",
        {},
        el("summary", { text: "What the program printed" }),
        el("pre", { class: "output", text: output }),
      );
    below.replaceChildren(legend, ...[printed, steps].filter(Boolean));
  }

  function select(name, step, scroll = true) {
    const pane = paneOf(name);
    state.active = state.panes.indexOf(pane);
    state.panes.forEach((it) => (it.view.selected = it === pane ? step : null));
    draw();
    const row = document.getElementById(`${name}-step-${step}`);
    if (row && scroll) row.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (row) reveal(row);
    inspect(pane.interleaving, step, name);
  }

  function windowOf(holder) {
    return { top: holder.scrollTop, left: holder.scrollLeft };
  }

  /** Brings a row into its pane's window without moving the page. */
  function reveal(row) {
    const holder = row.closest(".lanes");
    const [at, room] = [row.getBoundingClientRect(), holder.getBoundingClientRect()];
    if (at.bottom > room.bottom || at.top < room.top + 30) holder.scrollTop += at.top - room.top - room.height / 2;
    // Its lane may be beside the window.
    const mark = row.querySelector(".mark").getBoundingClientRect();
    const needed = Math.min(180, room.width / 2);
    if (mark.left < room.left + 60 || mark.left + needed > room.right) holder.scrollLeft += mark.left - room.left - needed / 2;
  }

  function inspect(interleaving, step, name) {
    const details =
      step === "failure"
        ? failureDetails(campaign, interleaving)
        : stepDetails(campaign, interleaving, step, (to) => select(name, to));
    inspector.replaceChildren(...details);
    const here = inspector.querySelector(".here");
    if (here) here.closest(".source").scrollTop = here.offsetTop - 90;
  }

  function hover(event, interleaving, step) {
    tip.classList.toggle("hidden", !event);
    if (!event) return;
    tip.textContent = stepInShort(campaign, interleaving, step);
    const room = tip.getBoundingClientRect();
    const below = event.clientY + 18;
    const top = below + room.height > window.innerHeight ? event.clientY - room.height - 10 : below;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - room.width - 8))}px`;
    tip.style.top = `${top}px`;
  }

  function zoomBy(by) {
    state.zoom = Math.max(0, Math.min(ZOOMS.length - 1, state.zoom + by));
    draw();
  }

  function toggleFold() {
    state.fold = !state.fold;
    state.panes.forEach((pane) => pane.view.unfolded.clear());
    drawToolbar();
    draw();
  }

  /** Moves to the next step that is shown: any, or one of the same thread. */
  function move(by, sameThread) {
    const pane = state.panes[state.active];
    if (!pane?.drawn) return;
    const list = pane.drawn.rows
      .filter((row) => row.kind === "step" || row.kind === "failure")
      .map((row) => (row.kind === "step" ? row.index : "failure"));
    const threadOf = (step) => (step === "failure" ? pane.interleaving.failure.thread : pane.interleaving.steps[step]?.thread);
    const at = list.indexOf(pane.view.selected);
    if (at < 0) return select(pane.name, list[0]);
    for (let place = at + by; place >= 0 && place < list.length; place += by) {
      if (!sameThread || threadOf(list[place]) === threadOf(list[at])) return select(pane.name, list[place]);
    }
  }

  root.keys = {
    ArrowDown: () => move(1, false),
    ArrowUp: () => move(-1, false),
    ArrowRight: () => move(1, true),
    ArrowLeft: () => move(-1, true),
    "+": () => zoomBy(1),
    "=": () => zoomBy(1),
    "-": () => zoomBy(-1),
    f: toggleFold,
    "/": () => document.getElementById("filter").focus(),
    o: () => {
      if (interleavings().original) {
        state.active = 1 - state.active;
        state.both = true;
        drawToolbar();
        draw();
        select(state.panes[state.active].name, state.panes[state.active].interleaving.failure ? "failure" : 0);
      }
    },
    Escape: () => {
      state.text = "";
      state.object = "";
      drawToolbar();
      draw();
    },
  };
  root.show = (kind, index) => {
    const place = interleavingOf(campaign, kind, index);
    if (place >= 0) choose(place);
  };
  root.arrive = () => choose(state.interleaving);
  let timer = 0;
  window.addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(() => root.isConnected && draw(), 120);
  });
  return root;
}
