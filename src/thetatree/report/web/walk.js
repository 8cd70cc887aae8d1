// Moving about in the picture: pointer, wheel, keys, search, folding.

const tip = byId("tip");

// The room for the picture grows with it; only `fit` lets it shrink, so that no card slips out of it.
function redraw(shrink = false) {
  makeRoom(shrink);
  drawNow();
}

function makeRoom(shrink = false) {
  arrange();
  const wanted = Math.max(220, Math.min(TALLEST, view.bounds.height * view.scale + 2 * MARGIN));
  const least = shrink ? 0 : canvas.clientHeight - 2;
  canvas.style.height = view.outline || view.printing ? "" : `${Math.max(least, wanted)}px`;
}

// ---- zoom and place

function clampScale(scale) {
  return Math.max(0.03, Math.min(2.5, scale));
}

function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  if (view.outline) return;
  const scale = clampScale(view.scale * factor);
  view.x = x - ((x - view.x) * scale) / view.scale;
  view.y = y - ((y - view.y) * scale) / view.scale;
  view.scale = scale;
  draw();
}

function fit() {
  arrange();
  if (view.outline) return redraw();
  const width = canvas.clientWidth - 2 * MARGIN;
  const whole = Math.min(1, width / view.bounds.width, (TALLEST - 2 * MARGIN) / view.bounds.height);
  view.scale = Math.max(LEAST_FIT, whole);
  makeRoom(true);
  view.x = Math.max(MARGIN, (canvas.clientWidth - view.bounds.width * view.scale) / 2);
  view.y = (canvas.clientHeight - view.bounds.height * view.scale) / 2;
  if (whole < LEAST_FIT) {  // too much to fit: the root is in view, the rest a pull away
    view.x = MARGIN;
    view.y = canvas.clientHeight / 2 - (view.at.get(0).y + CARD.height / 2) * view.scale;
  }
  drawNow();
}

// Moves the picture so far that a node can be seen and read.
function reveal(node) {
  for (let at = parentOf[node]; at >= 0; at = parentOf[at]) view.open[at] = 1;
  if (!view.outline && view.scale < LEGIBLE) view.scale = Math.min(1, LEGIBLE + 0.15);
  makeRoom();
  const { x, y } = view.at.get(node);
  if (view.outline) {
    if (y < canvas.scrollTop || y + OUTLINE.height > canvas.scrollTop + canvas.clientHeight) {
      canvas.scrollTop = y - canvas.clientHeight / 2;
    }
    return draw();
  }
  const left = view.x + x * view.scale, top = view.y + y * view.scale;
  const wide = CARD.width * view.scale, tall = CARD.height * view.scale;
  if (left < 8 || left + wide > canvas.clientWidth - 30) view.x = (canvas.clientWidth - wide) / 2 - x * view.scale;
  if (top < 8 || top + tall > canvas.clientHeight - 8) view.y = (canvas.clientHeight - tall) / 2 - y * view.scale;
  draw();
}

// ---- selecting and folding

function select(node, { focus = false } = {}) {
  view.selected = view.current = node;
  showNode(node);
  if (!view.at.has(node)) reveal(node);
  drawNow();
  if (focus) drawn.get(node).focus({ preventScroll: true });
}

// Opens or folds a node, its card staying where it is on the screen.
function toggleNode(node, open = !isOpen(node)) {
  if (isLeaf(node)) return;
  const before = view.at.get(node);
  view.open[node] = open ? 1 : 0;
  if (!view.at.has(view.current) || pathTo(view.current).slice(0, -1).includes(node)) view.current = node;
  redraw();
  const after = view.at.get(node);
  if (!view.outline && before) {
    view.x += (before.x - after.x) * view.scale;
    view.y += (before.y - after.y) * view.scale;
  }
  if (view.selected === node) showNode(node);
  drawNow();
}

function openAll(level) {
  openTo(level);
  if (!unfolded(isOpen).includes(view.current)) view.current = view.selected = 0;
  fit();
  showNode(view.selected);
}

// ---- pointer

const pointers = new Map();
let moved = 0;

canvas.addEventListener("pointerdown", (event) => {
  if (event.button > 0) return;
  moved = 0;
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
});

window.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before || view.outline) return;
  const dx = event.clientX - before.x, dy = event.clientY - before.y;
  if (pointers.size === 2) pinch(event);
  else {
    view.x += dx;
    view.y += dy;
  }
  moved += Math.abs(dx) + Math.abs(dy);
  if (moved > 4) {
    canvas.classList.add("moving");
    hideTip();
  }
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  draw();
});

function pinch(event) {
  const [a, b] = [...pointers.entries()].map(([id, at]) => (id === event.pointerId ? { ...at } : at));
  const was = Math.hypot(a.x - b.x, a.y - b.y);
  const other = [...pointers.entries()].find(([id]) => id !== event.pointerId)[1];
  const now = Math.hypot(event.clientX - other.x, event.clientY - other.y);
  const box = canvas.getBoundingClientRect();
  zoom(now / (was || 1), (event.clientX + other.x) / 2 - box.left, (event.clientY + other.y) / 2 - box.top);
}

function release(event) {
  pointers.delete(event.pointerId);
  canvas.classList.remove("moving");
}
window.addEventListener("pointerup", release);
window.addEventListener("pointercancel", release);

const nodeAt = (event) => {
  const one = event.target.closest ? event.target.closest(".node") : null;
  return one ? Number(one.dataset.node) : -1;
};

picture.addEventListener("click", (event) => {
  const node = nodeAt(event);
  if (node < 0 || moved > 4) return;
  if (event.target.closest(".toggle")) toggleNode(node);
  select(node, { focus: true });
});
picture.addEventListener("dblclick", (event) => {
  const node = nodeAt(event);
  if (node >= 0 && !event.target.closest(".toggle")) toggleNode(node);
});

canvas.addEventListener("wheel", (event) => {
  if (view.outline || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  const box = canvas.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * 0.002), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });
canvas.addEventListener("scroll", draw, { passive: true });

picture.addEventListener("pointerover", (event) => {
  const node = nodeAt(event);
  if (node >= 0 && event.pointerType === "mouse" && !pointers.size) showTip(node, event);
});
picture.addEventListener("pointermove", (event) => {
  if (!tip.hidden) placeTip(event);
});
picture.addEventListener("pointerout", (event) => {
  if (nodeAt(event) >= 0) hideTip();
});

function showTip(node, event) {
  tip.replaceChildren(...brief(node));
  tip.hidden = false;
  placeTip(event);
}

function placeTip(event) {
  const x = Math.min(event.clientX + 16, window.innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 18 + tip.offsetHeight < window.innerHeight;
  tip.style.left = `${Math.max(8, x)}px`;
  tip.style.top = `${below ? event.clientY + 18 : Math.max(8, event.clientY - tip.offsetHeight - 14)}px`;
}

function hideTip() {
  tip.hidden = true;
}

// ---- keys: the tree pattern of screen readers

picture.addEventListener("focusin", (event) => {
  const node = nodeAt(event);
  if (node >= 0) view.current = node;
});

picture.addEventListener("keydown", (event) => {
  const node = view.current, place = view.order.indexOf(node);
  const to = { ArrowDown: view.order[place + 1], ArrowUp: view.order[place - 1], Home: 0, End: view.order[view.order.length - 1] };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in to) walkTo(to[event.key]);
  else if (event.key === "ArrowRight") isOpen(node) ? walkTo(childrenOf(node)[0]) : toggleKept(node, true);
  else if (event.key === "ArrowLeft") isOpen(node) ? toggleKept(node, false) : walkTo(parentOf[node]);
  else if (event.key === "Enter" || event.key === " ") toggleKept(node, !isOpen(node));
  else if (event.key === "+" || event.key === "=") zoom(1.25);
  else if (event.key === "-") zoom(0.8);
  else if (event.key === "0") fit();
  else if (event.key === "Escape") hideTip();
  else return;
  event.preventDefault();
});

function toggleKept(node, open) {
  toggleNode(node, open);
  reveal(node);
  select(node, { focus: true });
}

function walkTo(node) {
  if (node === undefined || node < 0) return;
  view.current = node;
  reveal(node);
  select(node, { focus: true });
}

// ---- search

const search = byId("search");
let found = [], foundAt = -1;

function look() {
  const term = search.value.trim().toLowerCase();
  found = [];
  foundAt = -1;
  view.hits = new Set();
  if (term) {
    for (let node = 0; node < nodeCount; node++) {
      if (isLeaf(node) || !matches(node, term)) continue;
      found.push(node);
      for (const child of childrenOf(node)) view.hits.add(child);
      view.hits.add(node);
    }
  }
  byId("found").textContent = !term ? "" : found.length ? plural(found.length, "split", "splits") : "no split tests it";
  draw();
}

const matches = (node, term) =>
  features[T.feature[node]].name.toLowerCase().includes(term) ||
  childrenOf(node).some((child) => T.condition[child].toLowerCase().includes(term));

function next() {
  if (!found.length) return look();
  foundAt = (foundAt + 1) % found.length;
  const node = found[foundAt];
  byId("found").textContent = `split ${foundAt + 1} of ${found.length}`;
  view.open[node] = 1;
  view.current = node;
  reveal(node);
  select(node);
}

search.addEventListener("input", look);
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    if (!found.length) look();
    next();
  } else if (event.key === "Escape") {
    search.value = "";
    look();
  }
});
byId("find").addEventListener("click", next);

// ---- buttons

byId("in").addEventListener("click", () => zoom(1.3));
byId("out").addEventListener("click", () => zoom(1 / 1.3));
byId("fit").addEventListener("click", fit);
byId("more").addEventListener("click", () => openAll(Math.min(maxDepth, openLevels() + 1)));
byId("less").addEventListener("click", () => openAll(Math.max(1, openLevels() - 1)));
byId("all").addEventListener("click", () => openAll(maxDepth));
byId("as-picture").addEventListener("click", () => lay(false));
byId("as-outline").addEventListener("click", () => lay(true));

function lay(outline) {
  view.outline = outline;
  byId("as-picture").setAttribute("aria-pressed", String(!outline));
  byId("as-outline").setAttribute("aria-pressed", String(outline));
  canvas.classList.toggle("outline", outline);
  for (const id of ["in", "out", "fit"]) byId(id).disabled = outline;
  fit();
}

let lastWidth = 0;
new ResizeObserver(() => {
  if (canvas.clientWidth === lastWidth || view.printing) return;
  lastWidth = canvas.clientWidth;
  view.outline ? redraw() : fit();
}).observe(canvas);

// ---- print: what is open, as large as the paper allows

function printing(on) {
  view.printing = on;
  canvas.classList.toggle("printing", on);
  hideTip();
  redraw();
}
window.addEventListener("beforeprint", () => printing(true));
window.addEventListener("afterprint", () => printing(false));
byId("print").addEventListener("click", () => window.print());
