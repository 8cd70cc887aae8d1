// Key figures, the table of segments, importances, and how the tree was grown.

// The class whose share the table shows: of two the rarer one.
let focus = regression ? 0 : classes.length - 1;
if (!regression) {
  for (let k = classes.length - 2; k >= 0; k--) if (valueOf(0, k) < valueOf(0, focus)) focus = k;
}

const figureOf = (leaf) => valueOf(leaf, focus);
const lift = (leaf) => (valueOf(0, focus) ? figureOf(leaf) / valueOf(0, focus) : NaN);

// ---- key figures

function keyFigures() {
  const cards = [["Segments", count(leaves.length)], ["Depth", count(maxDepth)], [estimates ? "Keys" : "Rows", sizeText(0)]];
  if (T.weighted) cards.push(["Weight", number(T.weight[0])]);
  cards.push(["Features used", `${tested.length} of ${features.length}`]);
  if (regression) cards.push([content.criterion === "absolute_error" ? "Median of all" : "Mean of all", number(valueOf(0))]);
  else cards.push([`${classes[focus]} in all`, percent(valueOf(0, focus), 1)]);
  if (leaves.length > 1) {
    const best = leaves.reduce((a, b) => (figureOf(b) > figureOf(a) ? b : a));
    const least = leaves.reduce((a, b) => (figureOf(b) < figureOf(a) ? b : a));
    const say = (leaf) => (regression ? number(valueOf(leaf)) : percent(figureOf(leaf), 1));
    cards.push([`Highest: segment ${segmentOf[best]}`, say(best), best], [`Lowest: segment ${segmentOf[least]}`, say(least), least]);
  }
  for (const [name, value] of data ? data.figures : []) cards.push([name, value]);
  if (data && data.auc && data.auc[focus] !== null) cards.push([`AUC of ${classes[focus]}`, data.auc[focus].toFixed(3)]);
  byId("key").replaceChildren(...cards.map(([name, value, leaf]) => el(leaf === undefined ? "div" : "button",
    leaf === undefined ? { class: "key-figure" } : { class: "key-figure", type: "button", title: ruleOf(leaf), onclick: () => showInTree(leaf) },
    el("span", { class: value.length > 10 ? "value long" : "value" }, value), el("span", { class: "name" }, name))));
}

function showInTree(node) {
  openTab("node");
  walkTo(node);
  byId("tree").scrollIntoView({ block: "start" });
}

// ---- segments

const PAGE_ROWS = 25;
let shownRows = PAGE_ROWS, sortBy = "figure", falling = true;

function columns() {
  const out = [
    { id: "segment", name: "No.", value: (leaf) => segmentOf[leaf], cell: (leaf) => String(segmentOf[leaf]), numeric: true },
    { id: "rule", name: "Rule", value: ruleOf, cell: ruleCell },
    { id: "n", name: estimates ? "Keys" : "Rows", value: (leaf) => T.n[leaf], cell: sizeText, numeric: true },
    { id: "share", name: "Share", value: shareOfAll, cell: (leaf) => percent(shareOfAll(leaf), 1), numeric: true },
  ];
  if (regression) {
    out.push({ id: "figure", name: content.criterion === "absolute_error" ? "Median" : "Mean", value: figureOf, cell: (leaf) => number(figureOf(leaf)), numeric: true });
    out.push({ id: "spread", name: "Where y lies", value: figureOf, cell: (leaf) => svg("svg", { viewBox: "0 0 150 22", width: 150, height: 22, "aria-hidden": "true" }, ...spread(leaf, 2, 8, 146, 10)), still: true });
  } else {
    out.push({ id: "predicts", name: "Predicts", value: (leaf) => classes[T.best[leaf]], cell: (leaf) => named(T.best[leaf]) });
    out.push({ id: "figure", name: `Share ${classes[focus]}`, value: figureOf, cell: (leaf) => percent(figureOf(leaf), 1), numeric: true });
    out.push({ id: "interval", name: "95% interval", value: figureOf, cell: (leaf) => whisker(leaf, focus), still: true });
    out.push({ id: "lift", name: "Lift", value: lift, cell: (leaf) => (Number.isFinite(lift(leaf)) ? lift(leaf).toFixed(2) : "–"), numeric: true });
  }
  if (data) {
    out.push({ id: "seen", name: "Given", value: (leaf) => data.n[leaf], cell: (leaf) => count(data.n[leaf]), numeric: true });
    const there = (leaf) => (!data.n[leaf] ? null : regression ? data.mean[leaf] : at(data.counts, leaf, focus) / data.n[leaf]);
    out.push({ id: "there", name: regression ? "Mean there" : "Share there", value: (leaf) => there(leaf) ?? -Infinity, cell: (leaf) => (there(leaf) === null ? "–" : regression ? number(there(leaf)) : percent(there(leaf), 1)), numeric: true });
  }
  out.push({ id: "do", name: "", cell: actions, still: true });
  return out;
}

function ruleCell(leaf) {
  const conditions = conditionsOf(leaf).map(bracketed);
  if (!conditions.length) return "always";
  const literal = (text) => {
    const shown = shortened(text), long = shown.length > 120;
    return el("span", { class: "literal", title: shown !== text || long ? text : null }, long ? `${shown.slice(0, 110)}…` : shown);
  };
  return el("span", null, ...conditions.flatMap((text, i) => (i ? [el("span", { class: "and" }, " and "), literal(text)] : [literal(text)])));
}

const actions = (leaf) => el("span", { class: "row-buttons" },
  el("button", { type: "button", class: "plain", "aria-label": `Copy the rule of segment ${segmentOf[leaf]}`, onclick: () => copy(ruleOf(leaf), `segment ${segmentOf[leaf]}`) }, "Copy"),
  el("button", { type: "button", class: "plain", "aria-label": `Show segment ${segmentOf[leaf]} in the tree`, onclick: () => showInTree(leaf) }, "Show"));

function chosenLeaves() {
  const term = byId("filter").value.trim().toLowerCase();
  const column = columns().find((one) => one.id === sortBy) || columns()[0];
  const out = leaves.filter((leaf) => !term || ruleOf(leaf).toLowerCase().includes(term));
  const keyed = out.map((leaf) => [column.value(leaf), leaf]);
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a < b ? -1 : a > b ? 1 : 0);
  keyed.sort((a, b) => (falling ? -1 : 1) * compare(a[0], b[0]) || a[1] - b[1]);
  return keyed.map((pair) => pair[1]);
}

function segments() {
  const all = chosenLeaves(), shown = all.slice(0, shownRows), cells = columns();
  const head = cells.map((column) => {
    const sorted = column.id === sortBy ? (falling ? "descending" : "ascending") : null;
    if (column.still) return el(column.name ? "th" : "td", column.name ? { scope: "col", role: "columnheader" } : { role: "cell" }, column.name);
    return el("th", { scope: "col", role: "columnheader", class: column.numeric ? "num" : "", "aria-sort": sorted },
      el("span", { class: "printed", "aria-hidden": "true" }, column.name),
      el("button", { type: "button", class: "sort", onclick: () => sort(column) }, column.name, el("span", { "aria-hidden": "true", class: "arrow" }, sorted ? (falling ? " ↓" : " ↑") : "")));
  });
  const body = shown.map((leaf) => el("tr", { "data-leaf": leaf, role: "row" }, ...cells.map((column) => el("td", { class: `${column.id}${column.numeric ? " num" : ""}`, role: "cell", "data-name": column.name || null }, column.cell(leaf)))));
  byId("segments").replaceChildren(el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...head)), el("tbody", { role: "rowgroup" }, ...body));
  const more = byId("more-rows");
  more.hidden = all.length <= shown.length;
  more.textContent = `Show more (${count(all.length - shown.length)} left)`;
  const given = data ? ` “Given” and “there” are of the ${data.what}.` : "";
  const bounds = regression ? "" : content.bounds ? ` ${content.bounds.says}` : "";
  byId("segments-sub").textContent = `${all.length === leaves.length ? plural(leaves.length, "segment", "segments") : `${count(all.length)} of ${count(leaves.length)} segments`}: every case falls into exactly one.${bounds}${given}`;
}

function sort(column) {
  falling = column.id === sortBy ? !falling : Boolean(column.numeric && column.id !== "segment");
  sortBy = column.id;
  segments();
  for (const button of document.querySelectorAll("#segments .sort")) if (button.firstChild.textContent === column.name) button.focus();
}

function allRules() {
  const line = (leaf) => [segmentOf[leaf], ruleOf(leaf), T.n[leaf], regression ? valueOf(leaf) : classes[T.best[leaf]], ...(regression ? [] : [figureOf(leaf)])].join("\t");
  const head = ["segment", "rule", rowsWord, regression ? "value" : "prediction", ...(regression ? [] : [`share ${classes[focus]}`])].join("\t");
  return [head, ...chosenLeaves().map(line)].join("\n");
}

byId("filter").addEventListener("input", () => { shownRows = PAGE_ROWS; segments(); });
byId("more-rows").addEventListener("click", () => { shownRows += 300; segments(); });
byId("copy-all").addEventListener("click", () => copy(allRules(), `${count(chosenLeaves().length)} rules`));

function chooseClass() {
  if (regression) return;
  const choice = byId("focus");
  choice.append(...classes.map((name, k) => el("option", { value: k, selected: k === focus }, name)));
  choice.addEventListener("change", () => {
    focus = Number(choice.value);
    keyFigures();
    segments();
    showJudged();
  });
  byId("focus-label").hidden = false;
}

// ---- importances

function importances() {
  const shown = tested.filter((j) => T.importance[j] > 0), top = shown.slice(0, 25);
  if (!top.length) {
    byId("importance").append(el("p", { class: "muted" }, "No feature is tested."));
    return;
  }
  const most = T.importance[top[0]], splits = new Map();
  for (const j of T.feature) if (j >= 0) splits.set(j, (splits.get(j) || 0) + 1);
  const rows = top.map((j) => el("tr", null,
    el("th", { scope: "row" }, features[j].name),
    el("td", { class: "bar", "aria-hidden": "true" }, el("i", { style: `width:${(100 * T.importance[j]) / most}%` })),
    el("td", { class: "num" }, percent(T.importance[j], 1)),
    el("td", { class: "num muted" }, plural(splits.get(j), "split", "splits"))));
  const head = el("tr", { class: "hidden" }, ...["Feature", "Bar", "Importance", "Splits"].map((name) => el("th", { scope: "col" }, name)));
  byId("importance").append(el("table", { class: "importance" }, el("thead", null, head), el("tbody", null, ...rows)));
  const rest = features.length - top.length;
  if (rest) byId("importance").append(el("p", { class: "muted" }, `${plural(rest, "other feature", "other features")}: ${shown.length > top.length ? "less, or none" : "none"}.`));
}

// ---- how it was grown

function grown() {
  const about = content.grown, changed = about.parameters.filter((one) => one[2]), rest = about.parameters.filter((one) => !one[2]);
  const lines = [["Estimator", content.estimator], ["Criterion", content.criterion.replaceAll("_", " ")]];
  lines.push([estimates ? "Grown from" : "Grown on", estimates ? `theta sketches of ${sizeText(0)} keys` : `${count(T.n[0])} rows, ${plural(features.length, "feature", "features")}`]);
  if (estimates) {
    lines.push(["Keys held", `${count(estimates.held[0])} of them, the sample that all counts rest on`]);
    estimates.theta.forEach((theta, k) => lines.push([`θ of ${classes[k]}`, theta === 1 ? "1 (exact)" : number(theta)]));
  }
  if (about.gaps.length) lines.push(["Missing values in", about.gaps.length > 12 ? `${about.gaps.slice(0, 12).join(", ")} and ${about.gaps.length - 12} more` : about.gaps.join(", ")]);
  for (const [name, value] of changed) lines.push([name, value]);
  const kinds = ["number", "category", "flag"].map((kind) => [kind, features.filter((one) => one.kind === kind).length]).filter((one) => one[1]);
  const plurals = { number: "numbers", category: "categories", flag: "flags" };
  lines.push(["Features", kinds.map(([kind, n]) => plural(n, kind, plurals[kind])).join(", ")]);
  byId("grown").append(facts(lines));
  if (rest.length) byId("grown").append(el("details", null, el("summary", null, `${rest.length} parameters at their defaults`), facts(rest)));
  byId("grown").append(el("details", null, el("summary", null, "Versions"), facts(about.versions)));
}

function heading() {
  byId("kicker").textContent = content.estimator;
  byId("lead").textContent = `${plural(leaves.length, "segment", "segments")} of ${sizeText(0)} ${rowsWord}, found by ${content.criterion.replaceAll("_", " ")}` +
    (estimates ? "; ± is half of a 95% interval, not adjusted for the splits having been chosen." : ".");
  byId("note").textContent = content.note;
  byId("note").hidden = !content.note;
  byId("foot").textContent = `Made by thetatree ${content.grown.versions[0][1]}. This file holds all it shows and asks nothing of the network.`;
  if (regression) {
    byId("legend").append(el("span", null, "below the mean"), el("i", { class: "scale" }), el("span", null, "above"));
  } else {
    const most = [...classes.keys()].sort((a, b) => valueOf(0, b) - valueOf(0, a) || a - b).slice(0, 9).sort((a, b) => a - b);
    byId("legend").append(...most.map((k) => el("span", null, el("i", { class: "dot", style: `background:${colourOfClass(k)}` }), classes[k])));
    if (classes.length > most.length) byId("legend").append(el("span", { class: "muted" }, `and ${classes.length - most.length} more`));
  }
}
