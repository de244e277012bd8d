// The description of one step: beside the lanes, under the pointer, and above the lanes for a failure.

/** The relations between two steps, in words for the first and for the second of them. */
const CONNECTIONS = {
  "reads-from": ["reads what this wrote", "its value comes from"],
  fork: ["begins by this", "created by"],
  join: ["waits for the end after this", "waits for"],
  wakes: ["woken by this", "woken by"],
};

const placeOf = (interleaving, step) => (step.place === undefined ? null : interleaving.places[step.place]);

/** The index of the interleaving of a failure or a finding, -1 if there is none. */
function interleavingOf(campaign, kind, index) {
  return campaign.interleavings.findIndex((it) => it.of && it.of[0] === kind && it.of[1] === index);
}

/** All that is known of the failure at the end of an interleaving. */
function failureDetails(campaign, { failure }) {
  return [
    el("h3", { text: `T${failure.thread} fails: ${failure.kind}` }),
    el("div", { class: "message", text: failure.message }),
    failure.locks ? el("p", { class: "small", text: `It holds ${failure.locks}.` }) : "",
    sourceView(campaign, failure.place),
  ];
}

/** All that is known of a step; `jump` selects another one. */
function stepDetails(campaign, interleaving, index, jump) {
  const step = interleaving.steps[index];
  const place = placeOf(interleaving, step);
  const lane = interleaving.threads.find((thread) => thread.id === step.thread);
  const pairs = [["Thread", lane?.title ?? `T${step.thread}`]];
  if (step.object !== undefined) pairs.push(["Object", interleaving.objects[step.object]]);
  if (place) pairs.push(["Place", place.label]);
  pairs.push(["Locks held", step.locks || "none"]);
  if (step.times) pairs.push(["Repeated", `${step.times} times`]);
  const why = interleaving.switches.filter((at) => at.before === index);
  if (why.length) pairs.push(["Before it", why.map((at) => at.text).join("; ")]);
  const button = (to, label) => {
    const text = `${label}: ${interleaving.steps[to].number} · ${interleaving.steps[to].text}`;
    return el("button", { type: "button", class: "small", text, onclick: () => jump(to) });
  };
  const jumps = [
    ...interleaving.links.filter((link) => link.from === index).map((link) => button(link.to, CONNECTIONS[link.kind][0])),
    ...interleaving.links.filter((link) => link.to === index).map((link) => button(link.from, CONNECTIONS[link.kind][1])),
  ];
  const facts = pairs.flatMap(([key, value]) => [el("dt", { text: key }), el("dd", { text: value })]);
  return [
    el("h3", { class: "mono", text: step.text }),
    el("p", { class: "soft small", text: `Step ${step.number} of ${interleaving.total}` }),
    el("dl", {}, facts),
    el("div", { class: "bar" }, jumps),
    sourceView(campaign, place),
  ];
}

/** The same in a few lines, for the pointer. */
function stepInShort(campaign, interleaving, index) {
  const { failure } = interleaving;
  const step = index === "failure" ? failure : interleaving.steps[index];
  const what = step === failure ? `T${failure.thread} fails: ${failure.kind}` : `T${step.thread}  ${step.text}`;
  const place = step === failure ? failure.place : placeOf(interleaving, step);
  const line = sourceLine(campaign, place);
  const lines = [what, place && `${place.label}${line ? `:  ${line}` : ""}`, step.locks && `holds ${step.locks}`];
  return lines.filter(Boolean).join("\n");
}

/** The sentence on the failing execution as it was found, where its trace was too long to be drawn. */
function longOriginal(it) {
  if (!it) return [];
  const words = `The execution as it was found is not on this page: it has ${count(it.events, "event")}, too many to keep. Its schedule was kept, before anything was left out of it:`;
  return [el("p", { class: "small", id: "long-original", text: words }), commandLine(it.replay)];
}

/** Whether a failure's schedule is minimised, or at least reproduces the failure. */
function howItStands({ minimal, reproduced, preemptions }) {
  if (minimal) return preemptions === 0 ? "it needs no preemption" : "minimised: no preemption can be left out";
  return reproduced ? "failed again when it was run again" : "did not fail again when it was run again";
}

/** The description of a failure, above its lanes. */
function failureWords(campaign, index) {
  const failure = campaign.record.report.failures?.[index];
  if (!failure) return [];
  const files = campaign.record.failures[index] ?? {};
  const site = failure.site ? ` at ${failure.site}` : "";
  const facts = [
    `execution ${failure.execution}`,
    `policy ${failure.policy}`,
    count(failure.count, "time"),
    howItStands(failure),
  ];
  return [
    el("h2", { class: "failure-title", text: `${failure.kind}${site}` }),
    el("div", { class: "message", text: failure.message }),
    failure.cause ? el("p", {}, el("strong", { text: "Cause: " }), `${failure.cause}.`) : "",
    el("p", { class: "soft small", text: facts.join(" · ") }),
    files.replay ? commandLine(files.replay) : "",
    ...longOriginal(files.long_original),
  ];
}
