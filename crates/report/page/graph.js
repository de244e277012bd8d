// The concurrent dependency graphs of a verification, each a tree from a branch to what decides it.

function graphView(campaign) {
  const { graphs, report } = campaign.record;
  const root = el("section");
  const holder = el("div");
  const left = report.groups?.left
    ? `${count(report.groups.left, "question")} left`
    : report.exhausted
      ? "nothing is left: exhausted"
      : "not exhausted";
  const facts = [
    count(report.test_cases ?? 0, "test case"),
    `${counted(report.groups?.tested, "groups")} tested`,
    left,
    counted(report.graph?.nodes, "nodes"),
    counted(report.graph?.guidelines, "guidelines"),
  ];
  const pick = el(
    "select",
    { id: "pick-graph", onchange: (event) => draw(Number(event.target.value)) },
    graphs.graphs.map((graph, at) =>
      el("option", {
        value: at,
        text: `${graph.title} — ${count(graph.guidelines.length + graph.guidelines_left_out, "guideline")}`,
      }),
    ),
  );
  const more = graphs.left_out
    ? el("p", {
        class: "soft small",
        text: `${count(graphs.left_out, "more graph")} left out of the page; --graph writes all of them.`,
      })
    : "";
  root.append(
    el(
      "div",
      { class: "card" },
      el("h2", { text: "What decides how threads go" }),
      el("p", { class: "soft small", text: facts.join(" · ") }),
      el("p", {
        class: "soft small",
        text: "A box is a statement with the variables whose values are still open; a round node chooses which write a variable's value comes from. Each way from the root to a leaf is a guideline: a test case makes its reads see those writes.",
      }),
      el("div", { class: "bar" }, el("label", {}, "Graph of ", pick)),
      more,
    ),
    holder,
  );
  function draw(index) {
    const graph = graphs.graphs[index];
    const drawing = treeDrawing(graph);
    const cut = graph.nodes_left_out
      ? el("p", { class: "soft small", text: `${count(graph.nodes_left_out, "more node")} left out of the page.` })
      : "";
    const rest = graph.guidelines_left_out
      ? el("p", {
          class: "soft small",
          text: `${count(graph.guidelines_left_out, "more guideline")} left out of the page.`,
        })
      : "";
    const rows = graph.guidelines.map(({ steps, leaf }) =>
      el("li", {}, el("button", { type: "button", onclick: () => drawing.light(leaf), text: steps.join(" · ") })),
    );
    const { bar, frame, zoom } = zoomable(drawing, graph.title);
    root.keys = { "+": () => zoom.by(ZOOM), "=": () => zoom.by(ZOOM), "-": () => zoom.by(1 / ZOOM), 0: zoom.fit };
    holder.replaceChildren(
      el("div", { class: "card" }, el("h2", { text: graph.title }), bar, frame, cut),
      el(
        "div",
        { class: "card" },
        el("h2", { text: `Guidelines (${graph.guidelines.length + graph.guidelines_left_out})` }),
        el("ol", { class: "guidelines", id: "guidelines" }, rows),
        rest,
      ),
    );
    frame.scrollTop = drawing.rootY - frame.clientHeight / 2;
  }
  draw(0);
  root.arrive = () => draw(0);
  return root;
}

/** How much one step of zoom is, and how far it goes. */
const ZOOM = 1.25;
const [SMALLEST, LARGEST] = [0.05, 4];

/** A drawing in a frame in which it can be zoomed and moved: by wheel, by buttons, by keys, and by dragging. */
function zoomable({ node, width, height }, title) {
  const frame = el("div", { class: "scroll tall panned", id: "graph-frame", tabindex: 0, role: "region", "aria-label": title }, node);
  const shown = el("output", { id: "graph-zoom", text: "100 %" });
  let scale = 1;
  // A frame grows with its content, so its greatest height is read from the style.
  const whole = () => {
    const highest = parseFloat(getComputedStyle(frame).maxHeight) || frame.clientHeight;
    return Math.min(frame.clientWidth / width, highest / height, 1);
  };
  // What lies under the point stays there.
  const to = (wanted, [x, y] = [frame.clientWidth / 2, frame.clientHeight / 2]) => {
    const next = Math.min(LARGEST, Math.max(Math.min(SMALLEST, whole()), wanted));
    const [across, down] = [(frame.scrollLeft + x) / scale, (frame.scrollTop + y) / scale];
    scale = next;
    node.setAttribute("width", width * scale);
    node.setAttribute("height", height * scale);
    [frame.scrollLeft, frame.scrollTop] = [across * scale - x, down * scale - y];
    shown.textContent = `${Math.round(scale * 100)} %`;
  };
  const zoom = {
    by: (factor, point) => to(scale * factor, point),
    fit: () => {
      to(whole());
      [frame.scrollLeft, frame.scrollTop] = [0, 0];
    },
  };
  frame.addEventListener(
    "wheel",
    (event) => {
      const box = frame.getBoundingClientRect();
      event.preventDefault();
      zoom.by(event.deltaY < 0 ? ZOOM : 1 / ZOOM, [event.clientX - box.left, event.clientY - box.top]);
    },
    { passive: false },
  );
  let from = null;
  frame.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    from = [event.clientX + frame.scrollLeft, event.clientY + frame.scrollTop];
    frame.setPointerCapture(event.pointerId);
    frame.classList.add("dragged");
  });
  frame.addEventListener("pointermove", (event) => {
    if (from) [frame.scrollLeft, frame.scrollTop] = [from[0] - event.clientX, from[1] - event.clientY];
  });
  for (const end of ["pointerup", "pointercancel"])
    frame.addEventListener(end, () => {
      from = null;
      frame.classList.remove("dragged");
    });
  const button = (id, text, label, onclick) =>
    el("button", { type: "button", id, text, "aria-label": label, title: label, onclick });
  const bar = el(
    "div",
    { class: "bar" },
    button("graph-smaller", "−", "Zoom out", () => zoom.by(1 / ZOOM)),
    button("graph-larger", "+", "Zoom in", () => zoom.by(ZOOM)),
    button("graph-fit", "Fit", "Show the whole graph", zoom.fit),
    shown,
    el("span", { class: "soft small", text: "Wheel or + − to zoom, 0 for the whole graph, drag to move" }),
  );
  return { bar, frame, zoom };
}

/** A text with a place at its end, in so many letters: the file's name loses its middle, the line stays. */
function clippedPlace(text, most) {
  if (text.length <= most) return text;
  const [, lead = "", name, line = ""] = /^(.* )?(.*?)(:\d+)?$/s.exec(text);
  const room = most - lead.length - line.length - 1;
  if (!line || room < 2) return `${text.slice(0, most - line.length - 1)}…${line}`;
  const end = Math.floor(room / 2);
  return `${lead}${name.slice(0, room - end)}…${name.slice(name.length - end)}${line}`;
}

/** Lays a tree out from left to right. */
function treeDrawing(graph) {
  const { nodes } = graph;
  const children = nodes.map(() => []);
  nodes.forEach((node, at) => node.parent !== null && children[node.parent].push(at));
  const [across, row, pad] = [300, 34, 18];
  const places = [];
  let leaf = 0;
  const put = (at, depth) => {
    const below = children[at].map((child) => put(child, depth + 1));
    const y = below.length ? (below[0] + below[below.length - 1]) / 2 : row * leaf++ + pad;
    places[at] = { x: pad + depth * across, y, depth };
    return y;
  };
  put(0, 0);
  const deepest = Math.max(...places.map((it) => it.depth));
  const [width, height] = [pad * 2 + (deepest + 1) * across, row * leaf + pad];
  const drawing = svg("svg", {
    class: "graph",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `Graph of ${graph.title} with ${count(nodes.length, "node")}; its guidelines are listed below.`,
  });
  const edges = [];
  const over = svg("g");
  nodes.forEach((node, at) => {
    const { x, y } = places[at];
    if (node.parent !== null) {
      const from = places[node.parent];
      const start = from.x + (nodes[node.parent].is_choice ? 100 : 120);
      edges[at] = svg("path", {
        class: "edge",
        d: `M${start} ${from.y}C${start + 60} ${from.y} ${x - 60} ${y} ${x} ${y}`,
      });
      drawing.append(edges[at]);
      over.append(
        svg(
          "text",
          { class: "by", x: x - 8, y: y - 5, "text-anchor": "end", text: clippedPlace(node.edge, 26) },
          svg("title", { text: node.edge }),
        ),
      );
    }
    // The root's place is the drawing's title.
    const label = at === 0 ? node.label.split(" at ")[0] : node.label;
    const size = node.is_choice
      ? { x, y: y - 12, width: 100, height: 24, rx: 12, class: "choice" }
      : { x, y: y - 12, width: 120, height: 24, rx: 4, class: "box" };
    over.append(
      svg(
        "g",
        {},
        svg("rect", size),
        svg("text", { x: x + 9, y: y + 4, text: clippedPlace(label, node.is_choice ? 12 : 15) }),
        svg("title", { text: node.label }),
      ),
    );
  });
  drawing.append(over);
  const light = (leaf) => {
    edges.forEach((edge) => edge?.classList.remove("on"));
    for (let at = leaf; at !== null; at = nodes[at].parent) edges[at]?.classList.add("on");
  };
  return { node: drawing, light, rootY: places[0].y, width, height };
}
