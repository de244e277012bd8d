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
    `${figure(report.groups?.tested)} groups tested`,
    left,
    `${figure(report.graph?.nodes)} nodes`,
    `${figure(report.graph?.guidelines)} guidelines`,
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
    const window = el(
      "div",
      { class: "scroll tall", tabindex: 0, role: "region", "aria-label": graph.title },
      drawing.node,
    );
    holder.replaceChildren(
      el("div", { class: "card" }, el("h2", { text: graph.title }), window, cut),
      el(
        "div",
        { class: "card" },
        el("h2", { text: `Guidelines (${graph.guidelines.length + graph.guidelines_left_out})` }),
        el("ol", { class: "guidelines", id: "guidelines" }, rows),
        rest,
      ),
    );
    window.scrollTop = drawing.rootY - window.clientHeight / 2;
  }
  draw(0);
  root.arrive = () => draw(0);
  return root;
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
  const width = pad * 2 + (deepest + 1) * across;
  const clip = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const drawing = svg("svg", {
    class: "graph",
    width,
    height: row * leaf + pad,
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
          { class: "by", x: x - 8, y: y - 5, "text-anchor": "end", text: clip(node.edge, 26) },
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
        svg("text", { x: x + 9, y: y + 4, text: clip(label, node.is_choice ? 12 : 15) }),
        svg("title", { text: node.label }),
      ),
    );
  });
  drawing.append(over);
  const light = (leaf) => {
    edges.forEach((edge) => edge?.classList.remove("on"));
    for (let at = leaf; at !== null; at = nodes[at].parent) edges[at]?.classList.add("on");
  };
  return { node: drawing, light, rootY: places[0].y };
}
