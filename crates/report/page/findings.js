// Findings: sortable, each with its accesses drawn as lanes.

function findingsView(campaign, openInterleaving) {
  const { report, findings: cards } = campaign.record;
  const rows = report.findings.map((finding, index) => ({
    finding,
    card: cards[index] ?? { places: [], accesses: [], heading: finding.kind, state: "" },
    index,
  }));
  const state = { key: "index", up: true };
  const root = el("section");
  const list = el("div");
  const keys = {
    index: ["Importance", ({ index }) => index],
    kind: ["Kind", ({ finding }) => finding.kind],
    object: ["Object", ({ finding }) => finding.object],
    place: ["Place", ({ finding }) => finding.sites[0] ?? ""],
    confirmed: ["Confirmed first", ({ finding }) => (finding.confirmed ? 0 : finding.seen ? 1 : 2)],
    count: ["Times found", ({ finding }) => -finding.count],
  };
  function draw() {
    const by = keys[state.key][1];
    const order = (a, b) => (by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : a.index - b.index) * (state.up ? 1 : -1);
    const sorted = [...rows].sort(order);
    const head = Object.entries(keys).map(([key, [title]]) => {
      const isChosen = state.key === key;
      const press = () => {
        state.up = isChosen ? !state.up : true;
        state.key = key;
        draw();
      };
      return el("button", {
        type: "button",
        "data-sort": key,
        "aria-pressed": String(isChosen),
        text: `${title}${isChosen ? (state.up === (key !== "count") ? " ↑" : " ↓") : ""}`,
        onclick: press,
      });
    });
    list.replaceChildren(
      el(
        "div",
        { class: "bar", role: "group", "aria-label": "Sort by" },
        el("span", { class: "soft small", text: "Sort by" }),
        head,
      ),
      ...sorted.map(card),
    );
  }
  const card = ({ finding, card: it, index }) => {
    const state = finding.confirmed ? (it.fails ? ["bad", "✗ "] : ["warn", "● "]) : ["plain", "○ "];
    const interleaving = interleavingOf(campaign, "finding", index);
    const look =
      interleaving >= 0 &&
      el("button", { type: "button", text: "Show the interleaving", onclick: () => openInterleaving("finding", index) });
    const places = it.places.slice(0, 4).map((place) => sourceView(campaign, place, 2));
    return el(
      "article",
      { class: "card finding", "data-finding": index },
      el(
        "div",
        { class: "head" },
        el("h2", { text: it.heading }),
        el("span", {
          class: `badge ${state[0]}`,
          text: state[1] + (it.state || (finding.confirmed ? "confirmed" : finding.seen ? "seen" : "predicted")),
        }),
      ),
      el(
        "div",
        {},
        el("p", { text: `${finding.message}.` }),
        it.follows_from ? el("p", { class: "soft small", text: `Follows from the ${it.follows_from}.` }) : "",
        el("p", {
          class: "soft small",
          text: [
            `met ${count(finding.count, "time")}`,
            finding.pattern ? `memory-access pattern ${finding.pattern}` : "",
            finding.inputs?.length ? `inputs: ${finding.inputs.join(", ")}` : "",
          ]
            .filter(Boolean)
            .join(" · "),
        }),
        patternDrawing(it, finding),
        it.replay
          ? commandLine(it.replay)
          : el("p", {
              class: "soft small",
              text: "Predicted from other executions: there is no schedule that shows it.",
            }),
        look || "",
      ),
      el("div", {}, places),
    );
  };
  draw();
  root.append(list);
  return root;
}

const OPERATION_MARKS = {
  load: "read",
  store: "write",
  "read range": "read",
  "write range": "write",
  "compare failed": "read",
  "read lock": "lock",
  broadcast: "signal",
  free: "other",
  create: "fork",
};

/** The accesses in order: a lane for each thread, a row for each access. */
function patternDrawing(card, finding) {
  if (!card.accesses.length) return "";
  const threads = [...new Set(card.accesses.map((it) => it.thread))];
  const [lane, row, top] = [210, 30, 30];
  const [width, height] = [30 + lane * threads.length, top + row * card.accesses.length + 8];
  const words = card.accesses.map((it) => `T${it.thread} ${it.operation} ${it.object} at ${it.site}`).join(", then ");
  const drawing = svg("svg", {
    class: "pattern",
    width,
    height,
    role: "img",
    "aria-label": `${finding.kind}: ${words}`,
  });
  const x = (thread) => 20 + threads.indexOf(thread) * lane;
  for (const thread of threads) {
    drawing.append(
      svg("text", { x: x(thread) - 6, y: 16, "font-weight": 700, fill: threadColour(thread), text: `T${thread}` }),
      svg("line", { x1: x(thread), x2: x(thread), y1: 22, y2: height - 4, stroke: "var(--line)" }),
    );
  }
  const lines = svg("g");
  drawing.append(lines);
  card.accesses.forEach((it, place) => {
    const y = top + row * place + 12;
    const last = card.accesses[place - 1];
    if (last && last.thread !== it.thread)
      lines.append(
        svg("path", {
          d: `M${x(last.thread)} ${y - row}L${x(it.thread)} ${y}`,
          stroke: "var(--faint)",
          "stroke-dasharray": "3 3",
          fill: "none",
        }),
      );
    const text = `${it.operation} ${it.object}`;
    drawing.append(
      svg(
        "g",
        { transform: `translate(${x(it.thread)} ${y})` },
        markShape(MARKS[it.operation] ? it.operation : (OPERATION_MARKS[it.operation] ?? "other"), threadColour(it.thread)),
      ),
      svg(
        "text",
        { x: x(it.thread) + 12, y: y + 1, text: text.length > 25 ? `${text.slice(0, 24)}…` : text },
        svg("title", { text }),
      ),
      svg("text", { class: "soft", x: x(it.thread) + 12, y: y + 14, text: it.site }),
    );
  });
  return el("div", { class: "scroll" }, drawing);
}
