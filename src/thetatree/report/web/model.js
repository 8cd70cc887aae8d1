// The tree as the page knows it, how a case finds its leaf, and how figures are written.

const content = JSON.parse(document.getElementById("content").textContent);
const T = content.tree;
const features = content.features;
const classes = content.classes; // null for regression
const estimates = content.estimates; // null where counts are exact
const data = content.data || null;
const regression = classes === null;
const nClasses = regression ? 1 : classes.length;
const nodeCount = T.kind.length;
const LEAF = 0, THRESHOLD = 1, PRESENCE = 2, SUBSET = 3;
const rowsWord = estimates ? "keys" : "rows";

const isLeaf = (node) => T.kind[node] === LEAF;
const childrenOf = (node) => T.child.slice(T.childStart[node], T.childStart[node + 1]);
const parentOf = new Int32Array(nodeCount).fill(-1);
const depthOf = new Int32Array(nodeCount);
const leavesBelow = new Int32Array(nodeCount);
const segmentOf = new Int32Array(nodeCount); // leaves are segments, numbered from 1
const leaves = [];
for (let node = 0; node < nodeCount; node++) {
  for (const child of childrenOf(node)) {
    parentOf[child] = node;
    depthOf[child] = depthOf[node] + 1;
  }
  if (isLeaf(node)) {
    leaves.push(node);
    segmentOf[node] = leaves.length;
  }
}
for (let node = nodeCount - 1; node >= 0; node--) {
  if (isLeaf(node)) leavesBelow[node] = 1;
  if (node) leavesBelow[parentOf[node]] += leavesBelow[node];
}
const maxDepth = depthOf.reduce((most, depth) => Math.max(most, depth), 0);

const shareOfAll = (node) => T.weight[node] / (T.weight[0] || 1);
const valueOf = (node, k = 0) => T.value[node * nClasses + k];

function pathTo(node) {
  const path = [];
  for (let at = node; at >= 0; at = parentOf[at]) path.push(at);
  return path.reverse();
}

const OR_MISSING = " or missing";
const isCut = (node) => T.kind[node] === THRESHOLD && Number.isFinite(Number(T.threshold[node]));

// A threshold in the six digits that a reader needs; what is copied has all of them.
function short(x) {
  const text = String(x);
  return text.length <= 8 ? text : String(Number(x.toPrecision(6)));
}

// What leads to a node, as it is shown.
function conditionText(node) {
  const parent = parentOf[node];
  if (parent < 0) return `All ${rowsWord}`;
  if (!isCut(parent)) return T.condition[node];
  const sign = T.child[T.childStart[parent]] === node ? "≤" : ">";
  const missing = T.condition[node].endsWith(OR_MISSING) ? OR_MISSING : "";
  return `${features[T.feature[parent]].name} ${sign} ${short(Number(T.threshold[parent]))}${missing}`;
}

// The conditions that lead to a node: a leaf's as its rule has them, one for each feature.
function conditionsOf(node) {
  if (isLeaf(node)) return content.rules[segmentOf[node] - 1].map((i) => content.words[i]);
  return pathTo(node).slice(1).map((at) => T.condition[at]);
}

const bracketed = (text, i, all) => (all.length > 1 && text.endsWith(OR_MISSING) ? `(${text})` : text);
const ruleOf = (node) => conditionsOf(node).map(bracketed).join(" and ") || "always";

// A condition with its thresholds in short.
const shortened = (text) => text
  .replace(/([≤>] )(-?\d+\.\d+(?:e[-+]?\d+)?)(?=(?: or missing)?$)/, (_, sign, x) => sign + short(Number(x)))
  .replace(/^-?\d+\.\d+(?:e[-+]?\d+)?(?= < )/, (x) => short(Number(x)));

// ---- routing. A value is a number, a category's code, UNSEEN, or null where it is missing.

const UNSEEN = -1;

function branchOf(node, value) {
  const feature = features[T.feature[node]];
  if (value === UNSEEN && feature.kind === "category") {
    if ("other" in feature) value = feature.other;
    else if (feature.unlisted) value = feature.labels.length;
    else value = null;
  }
  if (value === null) return T.missing[node];
  if (T.kind[node] === THRESHOLD) return value <= Number(T.threshold[node]) ? 0 : 1;
  if (T.kind[node] === PRESENCE) return value !== 0 ? 0 : 1;
  for (let at = T.categoryStart[node]; at < T.categoryStart[node + 1]; at++) {
    if (T.category[at] === value) return T.categoryBranch[at];
  }
  return T.kind[node] === SUBSET ? 1 : T.missing[node];
}

// The leaves that a case ends in, each with the part of it that goes there. It is one leaf, but for trees that send a
// missing value to every branch in parts.
const EVERY_BRANCH = -2;

function route(values) {
  const ends = [], open = [[0, 1]];
  while (open.length) {
    const [node, part] = open.pop();
    if (isLeaf(node)) {
      ends.push({ leaf: node, part });
      continue;
    }
    const value = values[T.feature[node]], branch = branchOf(node, value === undefined ? null : value);
    const below = childrenOf(node);
    if (branch !== EVERY_BRANCH) {
      open.push([below[branch], part]);
      continue;
    }
    const all = below.reduce((sum, child) => sum + T.weight[child], 0);
    for (const child of below.reverse()) if (T.weight[child] > 0) open.push([child, part * (T.weight[child] / all)]);
  }
  return ends.sort((a, b) => b.part - a.part || a.leaf - b.leaf);
}

// ---- figures in words

const count = (n) => Math.round(n).toLocaleString("en");
const percent = (x, decimals) => `${(100 * x).toFixed(decimals ?? (x > 0 && x < 0.0995 ? 1 : 0))}%`;
function number(x) {
  if (x === null || x === undefined) return "–";
  if (x !== 0 && (Math.abs(x) >= 1e7 || Math.abs(x) < 1e-4)) return x.toExponential(2);
  return Number(x.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 8 });
}
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

function sizeText(node) {
  const error = estimates ? estimates.error[node] : 0;
  return error ? `${count(T.n[node])} ± ${count(error)}` : count(T.n[node]);
}

function predictionText(node) {
  return regression ? number(valueOf(node)) : `${classes[T.best[node]]} ${percent(valueOf(node, T.best[node]))}`;
}

// What is predicted for a case: its leaf's values, or the mean of those it ends in.
function caseValue(ends, k = 0) {
  return ends.reduce((sum, end) => sum + end.part * valueOf(end.leaf, k), 0);
}

function casePrediction(ends) {
  if (ends.length === 1) return predictionText(ends[0].leaf);
  if (regression) return number(caseValue(ends));
  const shares = classes.map((_, k) => caseValue(ends, k)), best = shares.indexOf(Math.max(...shares));
  return `${classes[best]} ${percent(shares[best])}`;
}

const nodeName = (node) => (isLeaf(node) ? `Segment ${segmentOf[node]}` : node ? `Node ${node}` : "The root");

// ---- elements. Text only ever becomes text nodes, so that no name in a table is taken for markup.

const byId = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") element.style.cssText = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// ---- colours: one for each class; for means from below the overall one to above it

const colourOfClass = (k) => (k < 8 ? `var(--c${k})` : "var(--c-other)");
const largestDeviation = regression
  ? leaves.reduce((most, leaf) => Math.max(most, Math.abs(valueOf(leaf) - valueOf(0))), 0) || 1
  : 1;

function colourOfNode(node) {
  if (!regression) return colourOfClass(T.best[node]);
  const t = Math.max(-1, Math.min(1, (valueOf(node) - valueOf(0)) / largestDeviation));
  return `color-mix(in oklab, var(--${t < 0 ? "low" : "high"}) ${Math.round(100 * Math.abs(t))}%, var(--middle))`;
}
