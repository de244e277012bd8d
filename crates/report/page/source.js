// Source text around a place.

/** Lines of source around a place, with the place's own line pointed out. */
function sourceView(campaign, place, around = 9) {
  if (!place) return el("p", { class: "soft small", text: "Its place in the source is not known." });
  const name = el("div", { class: "name", text: `${place.label}${place.function ? ` in ${place.function}` : ""}` });
  const excerpts = campaign.record.sources[place.file] ?? [];
  const lines = [];
  for (const part of excerpts) {
    part.lines.forEach((text, index) => {
      const number = part.first + index;
      if (Math.abs(number - place.line) <= around) lines.push([number, text]);
    });
  }
  if (!lines.length && place.source && place.line) lines.push([place.line, place.source]);
  if (!lines.length) return el("div", { class: "source" }, name);
  const row = ([number, text]) => {
    const here = number === place.line;
    return el(
      "li",
      { class: here ? "here" : "", "aria-current": here ? "true" : null },
      el("span", { text: number }),
      text || " ",
    );
  };
  const list = el("ol", {}, lines.map(row));
  return el(
    "div",
    { class: "source", tabindex: 0, role: "region", "aria-label": `Source of ${place.label}` },
    name,
    list,
  );
}

/** The text of a place's line, as far as it is known. */
function sourceLine(campaign, place) {
  if (!place) return "";
  if (place.source) return place.source.trim();
  for (const part of campaign.record.sources[place.file] ?? []) {
    const text = part.lines[place.line - part.first];
    if (text !== undefined) return text.trim();
  }
  return "";
}
