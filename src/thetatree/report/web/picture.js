// The tree as a picture: cards joined by ribbons as wide as their share of all rows. Two layouts: from left to
// right, moved and zoomed; and an outline, one card a line, for narrow screens. Only what is in view is drawn.

const CARD = { width: 204, height: 58 };
const COLUMN = 250, ROW = 67, BAND = 44, MARGIN = 24, TALLEST = 840;
const OUTLINE = { height: 56, row: 64 };
const LEGIBLE = 0.62; // the scale below which a first view opens no further level
const LEAST_FIT = 0.16; // below this even colours can not be told: a larger tree is not fitted whole
const SKETCHY = 0.42; // the scale below which cards are drawn without words

const canvas = byId("canvas");
const picture = byId("picture");
const ribbonLayer = svg("g", { "aria-hidden": "true" });
const cardLayer = svg("g", { role: "none" });
const world = svg("g", { role: "none" }, ribbonLayer, cardLayer);
picture.append(world);

const view = {
  outline: false,
  x: 0, y: 0, scale: 1,
  open: new Uint8Array(nodeCount),
  order: [], // the nodes that are not folded away, in preorder
  at: new Map(), // node -> {x, y}
  bounds: { width: 0, height: 0 },
  current: 0,
  selected: 0,
  path: new Set(), // the way of a typed-in case
  hits: new Set(), // cards that a search has found
  printing: false,
};
const drawn = new Map(); // node -> its element
let drawnAs = "";

const isOpen = (node) => !isLeaf(node) && view.open[node] === 1;

// ---- layout

function unfolded(isOpenHere) {
  const order = [], stack = [0];
  while (stack.length) {
    const node = stack.pop();
    order.push(node);
    if (!isLeaf(node) && isOpenHere(node)) stack.push(...childrenOf(node).reverse());
  }
  return order;
}

function arrange() {
  view.order = unfolded(isOpen);
  view.at = new Map();
  if (view.outline) arrangeOutline();
  else arrangePicture();
}

function arrangePicture() {
  let lines = 0, deepest = 0;
  for (const node of view.order) {
    if (!isOpen(node)) view.at.set(node, { x: depthOf[node] * COLUMN, y: lines++ * ROW });
    deepest = Math.max(deepest, depthOf[node]);
  }
  for (let i = view.order.length - 1; i >= 0; i--) {
    const node = view.order[i];
    if (!isOpen(node)) continue;
    const below = childrenOf(node);
    const y = (view.at.get(below[0]).y + view.at.get(below[below.length - 1]).y) / 2;
    view.at.set(node, { x: depthOf[node] * COLUMN, y });
  }
  // Room to the right for what folded cards say of themselves.
  const folded = view.order.some((node) => depthOf[node] === deepest && !isLeaf(node));
  view.bounds = { width: deepest * COLUMN + CARD.width + (folded ? 92 : 0), height: (lines - 1) * ROW + CARD.height };
}

function indent() {
  const deepest = view.order.reduce((most, node) => Math.max(most, depthOf[node]), 1);
  return Math.max(2, Math.min(22, (canvas.clientWidth * 0.4) / deepest));
}

function arrangeOutline() {
  const step = indent();
  view.order.forEach((node, i) => view.at.set(node, { x: 4 + depthOf[node] * step, y: 4 + i * OUTLINE.row }));
  view.bounds = { width: canvas.clientWidth, height: view.order.length * OUTLINE.row + 4 };
}

const cardWidth = (node) => (view.outline ? Math.max(120, canvas.clientWidth - view.at.get(node).x - 6) : CARD.width);
const cardHeight = () => (view.outline ? OUTLINE.height : CARD.height);

// Opens as many levels as stay legible in the room there is; at least one.
function openFirst() {
  const room = { width: Math.max(320, canvas.clientWidth), height: TALLEST };
  let level = 1;
  for (; level < maxDepth; level++) {
    const ends = unfolded((node) => depthOf[node] <= level).filter((node) => isLeaf(node) || depthOf[node] > level);
    if (view.outline ? ends.length > 14 : ends.length * ROW * LEGIBLE > room.height) break;
    if (!view.outline && ((level + 1) * COLUMN + CARD.width) * LEGIBLE > room.width) break;
  }
  openTo(level);
}

function openTo(level) {
  for (let node = 0; node < nodeCount; node++) view.open[node] = depthOf[node] < level ? 1 : 0;
}

function openLevels() {
  let level = maxDepth;
  for (let node = 0; node < nodeCount; node++) {
    if (!isLeaf(node) && !view.open[node]) level = Math.min(level, depthOf[node]);
  }
  return level;
}

// ---- drawing

let waiting = 0;
function draw() {
  if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; drawNow(); });
}

function window_() {
  if (view.printing) return { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
  if (view.outline) {
    const top = canvas.scrollTop - 300;
    return { left: -Infinity, right: Infinity, top, bottom: top + canvas.clientHeight + 600 };
  }
  const pad = 120;
  return {
    left: (-view.x - pad) / view.scale, right: (canvas.clientWidth - view.x + pad) / view.scale,
    top: (-view.y - pad) / view.scale, bottom: (canvas.clientHeight - view.y + pad) / view.scale,
  };
}

function drawNow() {
  const sketchy = !view.outline && view.scale < SKETCHY && !view.printing;
  const as = `${view.outline ? "outline" + canvas.clientWidth : "picture"}${sketchy}`;
  if (as !== drawnAs) {
    for (const card of drawn.values()) card.remove();
    drawn.clear();
    drawnAs = as;
  }
  placeWorld();
  const seen = window_(), height = cardHeight(), ribbons = [], wanted = new Set();
  for (const node of view.order) {
    const { x, y } = view.at.get(node);
    const width = cardWidth(node);
    const inView = x < seen.right && x + width > seen.left && y < seen.bottom && y + height > seen.top;
    if (inView || node === view.current) wanted.add(node);
    if (isOpen(node)) ribbons.push(...ribbonsOf(node, seen));
  }
  for (const [node, card] of drawn) {
    if (wanted.has(node)) continue;
    card.remove();
    drawn.delete(node);
  }
  ribbonLayer.replaceChildren(...ribbons);
  let before = null;
  for (const node of view.order) {
    if (!wanted.has(node)) continue;
    if (!drawn.has(node)) drawn.set(node, sketchy ? sketchCard(node) : card(node));
    const one = drawn.get(node);
    if (before ? before.nextSibling !== one : cardLayer.firstChild !== one) {
      cardLayer.insertBefore(one, before ? before.nextSibling : cardLayer.firstChild);
    }
    before = one;
    dress(one, node);
  }
}

function placeWorld() {
  const { width, height } = view.bounds;
  if (view.printing) {
    picture.setAttribute("viewBox", `-4 -4 ${width + 8} ${height + 8}`);
    picture.removeAttribute("width");
    picture.removeAttribute("height");
    world.removeAttribute("transform");
    return;
  }
  picture.removeAttribute("viewBox");
  picture.setAttribute("width", canvas.clientWidth);
  picture.setAttribute("height", view.outline ? height : canvas.clientHeight);
  world.setAttribute("transform", view.outline ? "" : `translate(${view.x} ${view.y}) scale(${view.scale})`);
}

// What changes without the card being drawn anew.
function dress(one, node) {
  const { x, y } = view.at.get(node);
  one.setAttribute("transform", `translate(${x} ${y})`);
  one.setAttribute("tabindex", node === view.current ? "0" : "-1");
  one.setAttribute("aria-selected", String(node === view.selected));
  if (!isLeaf(node)) {
    one.setAttribute("aria-expanded", String(isOpen(node)));
    const sign = one.querySelector(".sign");
    if (sign) sign.textContent = isOpen(node) ? "−" : "+";
  }
  one.classList.toggle("folded", !isLeaf(node) && !isOpen(node));
  one.classList.toggle("selected", node === view.selected);
  one.classList.toggle("on-path", view.path.has(node));
  one.classList.toggle("hit", view.hits.has(node));
  const dim = view.hits.size ? !view.hits.has(node) : view.path.size > 0 && !view.path.has(node);
  one.classList.toggle("dim", dim);
}

function ribbonsOf(node, seen) {
  const below = childrenOf(node), from = view.at.get(node), out = [];
  let edge = from.y + CARD.height / 2 - (shareOfAll(node) * BAND) / 2;
  for (const child of below) {
    const to = view.at.get(child), wide = Math.max(1.2 / Math.min(view.scale, 0.8), shareOfAll(child) * BAND);
    const start = edge + (shareOfAll(child) * BAND) / 2;
    edge += shareOfAll(child) * BAND;
    const hidden = Math.min(from.y, to.y) > seen.bottom || Math.max(from.y, to.y) + CARD.height < seen.top ||
      from.x > seen.right || to.x < seen.left;
    if (hidden) continue;
    const lit = view.path.has(child) && view.path.has(node);
    const dim = !lit && (view.path.size > 0 || view.hits.size > 0);
    const d = view.outline ? elbow(from, to) : band(from.x + CARD.width, start, to.x, to.y + CARD.height / 2, wide);
    const look = view.outline
      ? `fill:none;stroke:${colourOfNode(child)};stroke-width:${Math.max(1.5, shareOfAll(child) * 10)}`
      : `fill:${colourOfNode(child)}`;
    out.push(svg("path", { d, style: look, class: `ribbon${lit ? " lit" : ""}${dim ? " dim" : ""}` }));
  }
  return out;
}

function band(x1, y1, x2, y2, wide) {
  const middle = (x1 + x2) / 2, half = wide / 2;
  return `M${x1} ${y1 - half}C${middle} ${y1 - half} ${middle} ${y2 - half} ${x2} ${y2 - half}` +
    `L${x2} ${y2 + half}C${middle} ${y2 + half} ${middle} ${y1 + half} ${x1} ${y1 + half}Z`;
}

function elbow(from, to) {
  const x = (from.x + Math.max(to.x, from.x + 4)) / 2;
  return `M${x} ${from.y + OUTLINE.height}V${to.y + OUTLINE.height / 2}H${to.x}`;
}

// ---- cards

const measure = document.createElement("canvas").getContext("2d");
function cut(text, width, font) {
  measure.font = font;
  if (measure.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low).trimEnd() + "…";
}

// A card's test: of a cut that is too long the name is cut off, not the value.
function cutTest(node, width) {
  const parent = parentOf[node];
  if (parent < 0 || !isCut(parent)) return cut(conditionText(node), width, STRONG);
  const name = features[T.feature[parent]].name, end = conditionText(node).slice(name.length).replace(OR_MISSING, "");
  measure.font = STRONG;
  return cut(name, width - measure.measureText(end).width, STRONG) + end;
}
const FAMILY = getComputedStyle(document.body).fontFamily;
const STRONG = `600 12.5px ${FAMILY}`, SMALL = `12px ${FAMILY}`;

function label(node) {
  const words = [conditionText(node), nodeName(node), `${sizeText(node)} ${rowsWord}`, `${percent(shareOfAll(node), 1)} of all`];
  words.push(regression ? `mean ${number(valueOf(node))}` : `predicts ${predictionText(node)}`);
  return words.join(", ");
}

function card(node) {
  const width = cardWidth(node), height = cardHeight(), leaf = isLeaf(node);
  const badge = leaf ? `${segmentOf[node]}` : "";
  const left = view.outline && !leaf ? 34 : 14;
  const room = width - left - (leaf ? 44 : 24);
  const size = sizeText(node);
  measure.font = SMALL;
  const sizeWidth = measure.measureText(size).width;
  const children = [
    svg("rect", { class: "card", width, height, rx: 9 }),
    svg("rect", { width: 4, height: height - 18, x: 0, y: 9, rx: 2, style: `fill:${colourOfNode(node)}` }),
    svg("text", { x: left, y: 18, class: "test" }, cutTest(node, room)),
    ...strip(node, left, 26, width - left - 14, 8),
    svg("text", { x: left, y: 49, class: "says" }, cut(predictionText(node), width - left - 22 - sizeWidth, SMALL)),
    svg("text", { x: width - 14, y: 49, class: "size" }, size),
  ];
  if (leaf) children.push(svg("text", { x: width - 14, y: 18, class: "badge" }, badge));
  else children.push(...toggle(node, width, height));
  return placed(node, children);
}

function toggle(node, width, height) {
  const x = view.outline ? 17 : width, y = view.outline ? 16 : height / 2;
  const out = [svg("g", { class: "toggle", transform: `translate(${x} ${y})`, "data-toggle": "1" },
    svg("circle", { r: 10 }), svg("text", { class: "sign", y: 4.5 }))];
  if (!view.outline) out.push(svg("text", { class: "more", x: width + 16, y: height / 2 + 4 }, plural(leavesBelow[node], "segment", "segments")));
  return out;
}

function sketchCard(node) {
  const { width, height } = CARD;
  return placed(node, [
    svg("rect", { class: "card", width, height, rx: 9 }),
    ...strip(node, 10, 14, width - 20, height - 28),
  ]);
}

function placed(node, children) {
  return svg("g", {
    class: "node", role: "treeitem", "data-node": node, "aria-label": label(node), "aria-level": depthOf[node] + 1,
    "aria-setsize": node ? childrenOf(parentOf[node]).length : 1,
    "aria-posinset": node ? childrenOf(parentOf[node]).indexOf(node) + 1 : 1,
  }, ...children);
}

// What a node holds, in a strip: class shares side by side; or where y lies.
function strip(node, x, y, width, height) {
  return regression ? spread(node, x, y, width, height) : shares(node, x, y, width, height);
}

function shares(node, x, y, width, height) {
  const out = [];
  let start = x;
  for (let k = 0; k < nClasses; k++) {
    const wide = valueOf(node, k) * width;
    if (wide > 0.2) out.push(svg("rect", { x: start, y, width: wide, height, style: `fill:${colourOfClass(k)}` }));
    start += wide;
  }
  return out;
}

const deviation = (node) => (["squared_error"].includes(content.criterion) ? Math.sqrt(T.impurity[node]) : T.impurity[node]);
const axis = regression ? axisOfMeans() : null;

function axisOfMeans() {
  if (data && data.edges) return { from: data.edges[0], to: data.edges[data.edges.length - 1] };
  const spreads = content.criterion === "poisson" ? 0 : deviation(0);
  const values = T.value.concat([valueOf(0) - 2 * spreads, valueOf(0) + 2 * spreads]);
  const from = values.reduce((least, v) => Math.min(least, v)), to = values.reduce((most, v) => Math.max(most, v));
  return { from, to: to > from ? to : from + 1 };
}

function spread(node, x, y, width, height) {
  const place = (v) => x + width * Math.max(0, Math.min(1, (v - axis.from) / (axis.to - axis.from)));
  const out = [], bottom = y + height, colour = colourOfNode(node);
  if (data && data.hist) {
    const bins = data.edges.length - 1;
    const counts = data.hist.slice(node * bins, (node + 1) * bins);
    const most = counts.reduce((a, b) => Math.max(a, b), 1), wide = width / bins;
    counts.forEach((n, i) => {
      const tall = n ? Math.max(1, (n / most) * (height + 4)) : 0;
      if (tall) out.push(svg("rect", { x: x + i * wide, y: bottom - tall, width: Math.max(0.5, wide - 0.6), height: tall, style: `fill:${colour}` }));
    });
    out.push(svg("path", { d: `M${x} ${bottom + 0.5}H${x + width}`, class: "axis" }));
    out.push(svg("path", { d: `M${place(valueOf(node))} ${y - 5}V${bottom + 2}`, class: "mean" }));
    return out;
  }
  const middle = y + height / 2;
  out.push(svg("path", { d: `M${x} ${middle}H${x + width}`, class: "axis" }));
  out.push(svg("path", { d: `M${place(valueOf(0))} ${y - 1}V${bottom + 1}`, class: "axis" }));
  if (content.criterion !== "poisson") {
    const low = place(valueOf(node) - deviation(node)), high = place(valueOf(node) + deviation(node));
    out.push(svg("rect", { x: low, y: middle - 2.5, width: Math.max(1, high - low), height: 5, rx: 2.5, class: "deviation", style: `fill:${colour}` }));
  }
  out.push(svg("circle", { cx: place(valueOf(node)), cy: middle, r: Math.max(4, height / 4), style: `fill:${colour}`, class: "dot" }));
  return out;
}
