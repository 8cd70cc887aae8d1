// Gains, ROC and calibration of the data given, each with its figures as a table.

const CHART = { width: 340, height: 300, left: 58, right: 14, top: 10, bottom: 42 };

function chart({ name, says, x, y, series, table }) {
  const c = CHART, place = scales(x.domain, y.domain), parts = [];
  for (const tick of ticks(x.domain)) {
    const at = place.x(tick);
    parts.push(svg("path", { class: "grid", d: `M${at} ${c.top}V${c.height - c.bottom}` }), svg("text", { class: "tick middle", x: at, y: c.height - c.bottom + 16 }, x.text(tick)));
  }
  for (const tick of ticks(y.domain)) {
    const at = place.y(tick);
    parts.push(svg("path", { class: "grid", d: `M${c.left} ${at}H${c.width - c.right}` }), svg("text", { class: "tick end", x: c.left - 7, y: at + 4 }, y.text(tick)));
  }
  parts.push(svg("text", { class: "tick middle", x: (c.left + c.width - c.right) / 2, y: c.height - 6 }, x.name));
  parts.push(svg("text", { class: "tick middle", transform: `translate(12 ${(c.top + c.height - c.bottom) / 2}) rotate(-90)` }, y.name));
  for (const one of series) parts.push(...mark(one, place));
  const picture_ = svg("svg", { viewBox: `0 0 ${c.width} ${c.height}`, role: "img", "aria-label": `${name}: ${says}` }, ...parts);
  const rows = table.rows.map((row) => el("tr", null, ...row.map((cell) => el("td", { class: "num" }, cell))));
  const head = el("tr", null, ...table.head.map((text) => el("th", { scope: "col", class: "num" }, text)));
  return el("figure", null, el("figcaption", null, el("strong", null, name), " ", el("span", { class: "muted" }, says)), picture_,
    el("details", null, el("summary", null, "As a table"), el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${name} as a table` }, el("table", null, el("thead", null, head), el("tbody", null, ...rows)))));
}

function scales(xs, ys) {
  const c = CHART;
  return {
    x: (v) => c.left + ((v - xs[0]) / (xs[1] - xs[0])) * (c.width - c.left - c.right),
    y: (v) => c.height - c.bottom - ((v - ys[0]) / (ys[1] - ys[0])) * (c.height - c.top - c.bottom),
  };
}

function ticks([from, to]) {
  const rough = (to - from) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough - 1e-12);
  const out = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + 1e-9 * (to - from); i++) out.push(i * step);
  return out;
}

function mark(one, place) {
  const at = (point) => `${place.x(point[0]).toFixed(1)} ${place.y(point[1]).toFixed(1)}`;
  if (one.as === "points") {
    return one.points.flatMap(([px, py, low, high, share]) => [
      svg("path", { class: "error", d: `M${place.x(px)} ${place.y(low)}V${place.y(high)}` }),
      svg("circle", { cx: place.x(px), cy: place.y(py), r: 3 + 9 * Math.sqrt(share), class: "point" }),
    ]);
  }
  const out = [];
  if (one.area) out.push(svg("path", { class: "area", d: `M${one.points.map(at).join("L")}L${at([one.points[one.points.length - 1][0], 0])}L${at([one.points[0][0], 0])}Z` }));
  out.push(svg("path", { class: `line ${one.class || ""}`, d: `M${one.points.map(at).join("L")}` }));
  return out;
}

const whole = [0, 1];
const inPercent = { domain: whole, text: (v) => percent(v, 0) };

function showJudged() {
  if (!data) return;
  byId("judged").hidden = false;
  byId("judged-sub").textContent = data.says;
  const out = [];
  for (const one of data.charts) {
    if (one.focus !== null && one.focus !== focus) continue;
    out.push(chart(CHARTS[one.kind](one)));
  }
  byId("charts").replaceChildren(...out);
}

const CHARTS = {
  gains: (one) => ({
    name: "Gains", says: one.says, x: { ...inPercent, name: one.x }, y: { ...inPercent, name: one.y },
    series: [{ points: [[0, 0], [1, 1]], class: "chance" }, { points: one.points, area: true }],
    table: { head: [one.x, one.y], rows: one.points.map((p) => p.map((v) => percent(v, 1))) },
  }),
  roc: (one) => ({
    name: "ROC", says: one.says, x: { ...inPercent, name: "False positive rate" }, y: { ...inPercent, name: "True positive rate" },
    series: [{ points: [[0, 0], [1, 1]], class: "chance" }, { points: one.points, area: true }],
    table: { head: ["False positive rate", "True positive rate"], rows: one.points.map((p) => p.map((v) => percent(v, 1))) },
  }),
  calibration: (one) => ({
    name: "Calibration", says: one.says, x: { ...axisOf(one), name: one.x }, y: { ...axisOf(one), name: one.y },
    series: [{ points: [[axisOf(one).domain[0], axisOf(one).domain[0]], [axisOf(one).domain[1], axisOf(one).domain[1]]], class: "chance" }, { points: one.points, as: "points" }],
    table: { head: [one.x, one.y, "From", "To"], rows: one.points.map((p) => p.slice(0, 4).map(regression ? number : (v) => percent(v, 1))) },
  }),
};

const axisOf = (one) => (regression ? { domain: one.domain, text: number } : inPercent);
