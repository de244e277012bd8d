// Charts: curves of coverage, and box plots of trials.

const DASHES = ["", "7 4", "2 3", "10 3 2 3", "1 4", "12 4"];
const SPOTS = [
  "M4 0A4 4 0 1 1-4 0A4 4 0 1 1 4 0Z",
  "M-4-4H4V4H-4Z",
  "M0-5L5 4H-5Z",
  "M0-5L5 0L0 5L-5 0Z",
  "M-5-4H5L0 5Z",
  "M-4-4L4 4M4-4L-4 4",
];

/** Round numbers from 0 to at least `most`; of what is counted, whole ones. */
function ticks(most, wanted = 4, isCounted = true) {
  if (!(most > 0)) return [0, 1];
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = [1, 2, 5, 10].map((it) => it * power).find((it) => it >= rough);
  const step = isCounted ? Math.max(1, round) : round;
  const list = [];
  for (let at = 0; at < most + step * 0.999; at += step) list.push(Number(at.toPrecision(6)));
  return list;
}

/** A step chart: each series is a name and points, and a value holds until the next point. */
function stepChart({ title, unit, series, xTitle, isCounted = true, xText = figure, end, target }) {
  const [width, height, left, right, top, bottom] = [520, 260, 46, 16, 24, 40];
  const every = series.flatMap((it) => [it, ...(it.faint ?? [])]).flatMap((it) => it.points);
  const highest = Math.max(1, ...every.map(([, y]) => y));
  // An estimate far above all that was covered would flatten the curves.
  const isFar = target > 2.5 * highest;
  const [xs, ys] = [
    ticks(Math.max(end, ...every.map(([x]) => x)), 4, isCounted),
    ticks(isFar ? highest : Math.max(target ?? 0, highest)),
  ];
  const x = (value) => left + ((width - left - right) * value) / xs[xs.length - 1];
  const y = (value) => height - bottom - ((height - top - bottom) * value) / ys[ys.length - 1];
  const last = (points) => points[points.length - 1]?.[1] ?? 0;
  const tale = (it) =>
    `${it.name} reaches ${figure(last(it.points))}${it.saturation ? `, saturated after ${xText(it.saturation[0])}` : ""}`;
  const words = `${title}: ${series.map(tale).join("; ")}${target ? `; of ${figure(target)}` : ""}.`;
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words });
  for (const at of ys)
    chart.append(
      svg("line", { class: "grid", x1: left, x2: width - right, y1: y(at), y2: y(at) }),
      svg("text", { x: left - 7, y: y(at) + 4, "text-anchor": "end", text: figure(at) }),
    );
  for (const at of xs)
    chart.append(svg("text", { x: x(at), y: height - bottom + 17, "text-anchor": "middle", text: xText(at) }));
  chart.append(
    svg("line", { class: "axis", x1: left, x2: width - right, y1: y(0), y2: y(0) }),
    svg("text", { x: width - right, y: height - 5, "text-anchor": "end", text: xTitle }),
  );
  if (isFar)
    chart.append(
      svg("text", { x: width - right, y: top - 12, "text-anchor": "end", text: `↑ ${figure(target)} ${unit}` }),
    );
  else if (target)
    chart.append(
      svg("line", { class: "target", x1: left, x2: width - right, y1: y(target), y2: y(target) }),
      svg("text", { x: width - right, y: y(target) - 5, "text-anchor": "end", text: `${figure(target)} ${unit}` }),
    );
  const saturatedSeries = series.filter((it) => it.saturation);
  series.forEach((it, place) => {
    const { name, saturation, saturationOf } = it;
    if (!saturation) return;
    const at = x(saturation[0]);
    const isLeft = at > width / 2;
    const words = [`saturated${series.length > 1 ? `: ${name.split(" ")[0]}` : ""}`, saturationOf && `(${saturationOf})`];
    chart.append(
      svg(
        "g",
        { class: "saturation", color: threadColour(place), "data-strategy": name, "data-at": saturation[0] },
        svg("line", {
          x1: at,
          x2: at,
          y1: top,
          y2: y(0),
          stroke: threadColour(place),
          "stroke-dasharray": DASHES[place % DASHES.length] || "3 3",
        }),
        svg("path", {
          d: SPOTS[place % SPOTS.length],
          fill: "var(--card)",
          stroke: threadColour(place),
          "stroke-width": 2,
          transform: `translate(${at} ${y(saturation[1])}) scale(1.4)`,
        }),
        svg("text", {
          x: at + (isLeft ? -8 : 8),
          y: y(0) - 8 - 15 * (saturatedSeries.length - 1 - saturatedSeries.indexOf(it)),
          "text-anchor": isLeft ? "end" : "start",
          text: words.filter(Boolean).join(" "),
        }),
      ),
    );
  });
  for (const { name, failure } of series) {
    if (failure === undefined) continue;
    chart.append(
      svg(
        "path",
        { class: "failed", d: "M-4-4L4 4M4-4L-4 4", transform: `translate(${x(failure)} ${y(0)})` },
        svg("title", { text: `${name}: failure at ${xText(failure)}` }),
      ),
    );
  }
  const path = (points, stop) => {
    let d = `M${x(0)} ${y(0)}`;
    for (const [at, value] of points) d += `H${x(at)}V${y(value)}`;
    return `${d}H${x(Math.max(stop, points[points.length - 1]?.[0] ?? 0))}`;
  };
  series.forEach((it, place) => {
    for (const trial of it.faint ?? [])
      chart.append(svg("path", { class: "faintcurve", d: path(trial.points, trial.end), stroke: threadColour(place) }));
  });
  series.forEach((it, place) => {
    const stop = Math.max(it.end ?? end, it.points[it.points.length - 1]?.[0] ?? 0);
    chart.append(
      svg("path", {
        class: "curve",
        d: path(it.points, stop),
        stroke: threadColour(place),
        "stroke-dasharray": DASHES[place % DASHES.length],
        "data-strategy": it.name,
        "data-end": stop,
      }),
    );
    chart.append(
      svg("path", {
        d: SPOTS[place % SPOTS.length],
        fill: threadColour(place),
        stroke: threadColour(place),
        transform: `translate(${x(stop)} ${y(last(it.points))})`,
      }),
    );
  });
  const entry = (words, ...shapes) =>
    el(
      "li",
      {},
      svg("svg", { class: "swatch", width: 34, height: 12, viewBox: "0 0 34 12", "aria-hidden": "true" }, ...shapes),
      words,
    );
  const lines = series.map((it, place) =>
    entry(
      it.name,
      svg("path", {
        class: "curve",
        d: "M0 6H26",
        stroke: threadColour(place),
        "stroke-dasharray": DASHES[place % DASHES.length],
      }),
      svg("path", {
        d: SPOTS[place % SPOTS.length],
        fill: threadColour(place),
        stroke: threadColour(place),
        transform: "translate(28 6)",
      }),
    ),
  );
  const cross = svg("path", { class: "failed", d: "M-4-4L4 4M4-4L-4 4", transform: "translate(28 6)" });
  const entries = [
    ...(series.length > 1 ? lines : []),
    ...(series.some((it) => it.failure !== undefined) ? [entry("the first failure", cross)] : []),
  ];
  const legend = entries.length > 0 && el("ul", { class: "legend" }, entries);
  const rows = series.flatMap((it) => it.points.map(([at, value]) => ({ name: it.name, at, value })));
  const columns = [
    { title: xTitle, number: true, show: (row) => xText(row.at) },
    { title: unit, number: true, show: (row) => figure(row.value) },
  ];
  if (series.length > 1) columns.unshift({ title: "Strategy", show: (row) => row.name });
  return el(
    "figure",
    {},
    el(
      "figcaption",
      {},
      `${title} `,
      el("span", {
        text: target && series.length === 1 ? `${figure(last(series[0]?.points ?? []))} of ${figure(target)}` : "",
      }),
    ),
    chart,
    legend || "",
    asTable(columns, rows),
  );
}
