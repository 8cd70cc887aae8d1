// Beside the picture: what the selected node holds, and a case to try.

// ---- a node

function brief(node) {
  const out = [el("strong", null, conditionText(node)), el("p", { class: "muted" }, `${nodeName(node)} · ${sizeText(node)} ${rowsWord} · ${percent(shareOfAll(node), 1)}`)];
  out.push(regression ? meanTable(node) : classTable(node));
  return out;
}

const named = (k) => el("span", { class: "named" }, el("i", { class: "dot", style: `background:${colourOfClass(k)}` }), el("span", null, classes[k]));
const at = (array, node, k) => array[node * nClasses + k];

function countOf(node, k) {
  return estimates ? at(estimates.count, node, k) : valueOf(node, k) * T.weight[node];
}

// How sure a class's share is, as [low, high]; null where that is not known.
function boundsOf(node, k) {
  const low = content.bounds ? at(content.bounds.low, node, k) : null;
  return low === null ? null : [low, at(content.bounds.high, node, k)];
}

function classTable(node) {
  const order = [...classes.keys()].sort((a, b) => valueOf(node, b) - valueOf(node, a) || a - b);
  const shown = order.slice(0, 12);
  const rows = shown.map((k) => el("tr", null,
    el("th", { scope: "row" }, named(k)),
    el("td", { class: "num" }, countText(node, k)),
    el("td", { class: "num" }, percent(valueOf(node, k), 1)),
    el("td", { class: "whiskers" }, whisker(node, k))));
  const head = el("tr", null, el("th", { scope: "col" }, "Class"), el("th", { scope: "col", class: "num" }, T.weighted ? "Weight" : "Count"),
    el("th", { scope: "col", class: "num" }, "Share"), el("th", { scope: "col" }, el("span", { class: "hidden" }, "95% interval")));
  const more = order.length > shown.length ? el("p", { class: "muted" }, `and ${order.length - shown.length} classes more`) : null;
  return el("div", null, el("table", { class: "classes" }, el("thead", null, head), el("tbody", null, ...rows)), more);
}

function countText(node, k) {
  if (!estimates) return T.weighted ? number(countOf(node, k)) : count(countOf(node, k));
  const low = at(estimates.low, node, k), high = at(estimates.high, node, k);
  const text = count(countOf(node, k));
  return high > low ? el("span", null, text, el("small", null, ` ${count(low)}–${count(high)}`)) : text;
}

// A share as a bar on the line from 0 to 1, its interval as a whisker.
function whisker(node, k) {
  const w = 96, h = 14, x = (share) => 1 + share * (w - 2), bounds = boundsOf(node, k);
  const parts = [svg("rect", { x: 1, y: 4, width: w - 2, height: 6, rx: 3, class: "track" }),
    svg("rect", { x: 1, y: 4, width: Math.max(0.5, valueOf(node, k) * (w - 2)), height: 6, rx: 3, style: `fill:${colourOfClass(k)}` })];
  if (bounds) parts.push(svg("path", { class: "whisker", d: `M${x(bounds[0])} 7H${x(bounds[1])}M${x(bounds[0])} 3V11M${x(bounds[1])} 3V11` }));
  const words = bounds ? `95% interval ${percent(bounds[0], 1)} to ${percent(bounds[1], 1)}` : percent(valueOf(node, k), 1);
  return svg("svg", { viewBox: `0 0 ${w} ${h}`, width: w, height: h, role: "img", "aria-label": words }, svg("title", null, words), ...parts);
}

function meanTable(node) {
  const lines = [["Mean", number(valueOf(node))]];
  if (content.criterion === "absolute_error") lines[0][0] = "Median";
  if (content.criterion === "squared_error") lines.push(["Standard deviation", number(deviation(node))]);
  if (content.criterion === "absolute_error") lines.push(["Mean absolute deviation", number(deviation(node))]);
  if (node) lines.push(["Against all", `${valueOf(node) >= valueOf(0) ? "+" : "−"}${number(Math.abs(valueOf(node) - valueOf(0)))}`]);
  return el("div", null, facts(lines), svg("svg", { viewBox: "0 0 300 44", class: "y-spread", role: "img", "aria-label": "Where y lies" }, ...spread(node, 4, 14, 292, 18)));
}

const facts = (lines) => el("dl", { class: "facts" }, ...lines.flatMap(([name, value]) => [el("dt", null, name), el("dd", null, value)]));

function showNode(node) {
  const pane = byId("pane-node"), path = pathTo(node).slice(1);
  const out = [el("h3", null, el("i", { class: "dot", style: `background:${colourOfNode(node)}` }), nodeName(node))];
  out.push(path.length
    ? el("ol", { class: "path" }, ...path.map((one) => el("li", null, el("button", { type: "button", class: "link", onclick: () => walkTo(one) }, conditionText(one)))))
    : el("p", { class: "muted" }, `All ${rowsWord}, before any split`));
  const size = [[estimates ? "Keys (estimated)" : "Rows", sizeText(node)], ["Share of all", percent(shareOfAll(node), 1)]];
  if (T.weighted) size.push(["Weight", number(T.weight[node])]);
  if (estimates && estimates.error[node]) size.push(["Keys held", count(estimates.held[node])]);
  if (!regression) size.push(["Predicts", predictionText(node)]);
  out.push(facts(size), regression ? meanTable(node) : classTable(node));
  if (data) out.push(...seenIn(node));
  if (!isLeaf(node)) out.push(...splitOf(node));
  const buttons = [el("button", { type: "button", onclick: () => copy(ruleOf(node), "rule") }, "Copy rule")];
  if (!isLeaf(node)) buttons.push(el("button", { type: "button", onclick: () => { toggleNode(node); reveal(node); } }, isOpen(node) ? "Fold" : "Open"));
  out.push(el("p", { class: "buttons" }, ...buttons));
  pane.replaceChildren(...out);
}

function splitOf(node) {
  const lines = [["Splits by", features[T.feature[node]].name], [content.criterion.replaceAll("_", " "), number(T.score[node])],
    ["Decrease in impurity", number(T.decrease[node])], ["Impurity", number(T.impurity[node])]];
  const to = T.missing[node];
  lines.push(["Missing goes to", to === EVERY_BRANCH ? "every branch, in parts" : conditionText(childrenOf(node)[to])]);
  return [el("h4", null, "The split"), facts(lines)];
}

function seenIn(node) {
  const n = data.n[node], lines = [[`Of the ${data.what}`, `${count(n)} (${percent(data.n[0] ? n / data.n[0] : 0, 1)})`]];
  if (regression && n) lines.push(["Mean there", number(data.mean[node])]);
  if (!regression && n) {
    const order = [...classes.keys()].sort((a, b) => at(data.counts, node, b) - at(data.counts, node, a)).slice(0, 6);
    for (const k of order) lines.push([classes[k], `${count(at(data.counts, node, k))} (${percent(at(data.counts, node, k) / n, 1)})`]);
  }
  return [el("h4", null, "In the data given"), facts(lines)];
}

// ---- a case

const form = byId("case");
const tested = [...new Set(T.feature.filter((j) => j >= 0))].sort((a, b) => T.importance[b] - T.importance[a] || a - b);
const inputs = new Map(); // feature -> its input
const OTHER_VALUE = "another";

function field(j) {
  const feature = features[j], id = `case-${j}`;
  const name = el("label", { for: id }, feature.name);
  let input;
  if (feature.kind === "flag") {
    input = el("select", { id }, ...[["", "missing"], ["1", "yes"], ["0", "no"]].map(([value, text]) => el("option", { value }, text)));
  } else if (feature.kind === "category" && feature.labels.length <= 40) {
    const options = feature.labels.map((text, code) => el("option", { value: code }, text));
    input = el("select", { id }, el("option", { value: "" }, "missing"), ...options, el("option", { value: OTHER_VALUE }, "another value"));
  } else if (feature.kind === "category") {
    const list = el("datalist", { id: `${id}-list` }, ...feature.labels.map((text) => el("option", { value: text })));
    input = el("input", { id, list: `${id}-list`, placeholder: "missing" });
    name.append(list);
  } else {
    input = el("input", { id, inputmode: "decimal", placeholder: "missing", "aria-describedby": `${id}-wrong` });
  }
  inputs.set(j, input);
  return el("div", { class: "field" }, name, input, el("span", { class: "wrong", id: `${id}-wrong` }));
}

// The typed-in value of a feature; undefined where it is no number.
function typed(j) {
  const feature = features[j], text = inputs.get(j).value;
  if (text.trim() === "") return null;
  if (feature.kind === "category") {
    if (inputs.get(j).tagName === "SELECT") return text === OTHER_VALUE ? UNSEEN : Number(text);
    return feature.labels.includes(text) ? feature.labels.indexOf(text) : UNSEEN;
  }
  const value = Number(text.trim());
  return Number.isFinite(value) ? value : undefined;
}

function tryCase() {
  const values = {};
  let wrong = false, any = false;
  for (const j of tested) {
    const value = typed(j), input = inputs.get(j);
    const isWrong = value === undefined;
    wrong = wrong || isWrong;
    any = any || value !== null;
    input.toggleAttribute("aria-invalid", isWrong);
    if (isWrong) input.setAttribute("aria-invalid", "true");
    const says = byId(`case-${j}-wrong`);
    if (says) says.textContent = isWrong ? "not a number" : "";
    values[j] = value === undefined ? null : value;
  }
  return { values, wrong, any };
}

const opened = new Set(); // what the last case has opened, to be folded again by the next

function showCase(force = false) {
  const { values, wrong, any } = tryCase(), verdict = byId("verdict");
  for (const node of opened) view.open[node] = 0;
  opened.clear();
  if (wrong || !(any || force)) {
    view.path = new Set();
    verdict.replaceChildren();
    delete verdict.dataset.leaf;
    delete verdict.dataset.says;
    view.selected = view.current = 0;
    return redraw();
  }
  const ends = route(values), leaf = ends[0].leaf;
  view.path = new Set(ends.flatMap((end) => pathTo(end.leaf)));
  for (const node of view.path) {
    if (!view.open[node]) opened.add(node);
    view.open[node] = 1;
  }
  view.selected = leaf;
  view.current = leaf;
  reveal(leaf);
  showNode(leaf);
  verdict.dataset.leaf = leaf;
  verdict.dataset.says = casePrediction(ends);
  verdict.replaceChildren(...answer(ends));
}

function answer(ends) {
  const leaf = ends[0].leaf, whole = ends.length === 1;
  const where = whole ? `${nodeName(leaf)}, ${sizeText(leaf)} ${rowsWord}` : `in parts, by ${ends.length} segments`;
  const head = el("p", { class: "answer" }, el("i", { class: "dot", style: `background:${colourOfNode(leaf)}` }),
    el("strong", null, casePrediction(ends)), el("span", { class: "muted" }, ` ${where}`));
  if (!whole) {
    const rows = ends.slice(0, 12).map(({ leaf: one, part }) => el("tr", null, el("td", { class: "num" }, percent(part, 1)),
      el("td", null, nodeName(one)), el("td", null, predictionText(one))));
    const names = ["Part", "Ends in", "Predicts"].map((name) => el("th", { scope: "col" }, name));
    return [head, el("table", null, el("thead", null, el("tr", null, ...names)), el("tbody", null, ...rows))];
  }
  const path = pathTo(leaf).slice(1);
  const steps = el("ol", { class: "path" }, ...path.map((node) => el("li", null, conditionText(node))));
  return [head, ...(path.length ? [steps] : []), ...(regression ? [] : [classTable(leaf)])];
}

function makeForm() {
  if (!tested.length) {
    form.append(el("p", { class: "muted" }, "The tree has one leaf: it predicts the same for every case."));
    return;
  }
  const rest = features.length - tested.length;
  form.append(el("p", { class: "muted" }, "What is left empty is missing."), ...tested.map(field));
  if (rest) form.append(el("p", { class: "muted" }, `${plural(rest, "other feature is", "other features are")} not tested by this tree.`));
  form.append(el("p", { class: "buttons" }, el("button", { type: "submit", class: "primary" }, "Find its segment"), el("button", { type: "reset" }, "Clear")));
  form.addEventListener("input", () => showCase());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    showCase(true);
  });
  form.addEventListener("reset", () => setTimeout(showCase));
}

// ---- tabs

function openTab(name, focus = false) {
  for (const one of ["node", "case"]) {
    const on = one === name, tab = byId(`tab-${one}`);
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
    byId(`pane-${one}`).hidden = !on;
    if (on && focus) tab.focus();
  }
}
for (const [name, other] of [["node", "case"], ["case", "node"]]) {
  byId(`tab-${name}`).addEventListener("click", () => openTab(name));
  byId(`tab-${name}`).addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") openTab(other, true);
  });
}

// ---- copying

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { style: "position:fixed;opacity:0" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  byId("copied").textContent = `Copied: ${what}`;
  toast(`Copied: ${what}`);
}

let toasting = 0;
function toast(text) {
  let box = byId("toast");
  if (!box) document.body.append((box = el("div", { id: "toast", "aria-hidden": "true" })));
  box.textContent = text;
  box.classList.add("on");
  clearTimeout(toasting);
  toasting = setTimeout(() => box.classList.remove("on"), 1600);
}
