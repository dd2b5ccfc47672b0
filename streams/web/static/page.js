"use strict";
// Charts, live list, keys, theme. Everything else works without a script. Text goes into the page as text, never as HTML,
// but for rows that the server rendered and escaped.

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const OUTCOMES = ["clean", "repaired", "partial", "failed", "open"];
const COLOURS = ["tool_call", "state", "tool_result", "reasoning", "failure", "response", "clean", "partial", "repaired", "open"];

// ---- numbers and cells
const number = (value, unit) => {
  if (value === null || value === undefined) return "–";
  if (unit === "percent") return `${(value * 100).toFixed(1)} %`;
  if (unit === "ms" && Math.abs(value) >= 10000) return value >= 120000 ? `${Number((value / 60000).toPrecision(3))} min` : `${Number((value / 1000).toPrecision(3))} s`;
  const text = Math.abs(value) >= 1000 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
  return unit ? `${text} ${unit}` : text;
};
const isTime = (text) => typeof text === "string" && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text);
const cell = (value) => (isTime(value) ? value.replace("T", " ").slice(0, 16) : typeof value === "number" ? number(value) : value === null ? "–" : Array.isArray(value) ? value.join(", ") : String(value));

const word = (name) => name.replace(/_(ms|s)$/, "").replaceAll("_", " ");

// ---- drawings
function drawTable(box, answer) {
  const bars = answer.options.bars || [], link = (answer.options.link || [])[0];
  const table = document.createElement("table");
  table.className = "rows";
  const head = table.createTHead().insertRow();
  answer.columns.forEach((name, place) => {
    const th = document.createElement("th");
    th.textContent = name.replaceAll("_", " ");
    if (typeof answer.rows[0]?.[place] === "number") th.className = "number";
    head.append(th);
  });
  const body = table.createTBody();
  for (const row of answer.rows) {
    const tr = body.insertRow();
    row.forEach((value, place) => {
      const td = tr.insertCell(), name = answer.columns[place];
      if (bars.includes(name)) td.append(share(value), ` ${number(value, "percent")}`);
      else if (name === link && value) td.append(anchor(name, value));
      else td.textContent = cell(value);
      if (typeof value === "number") td.className = "number";
    });
  }
  box.replaceChildren(table);
  box.removeAttribute("role");
  box.tabIndex = 0;
}
function anchor(name, value) {
  const a = document.createElement("a");
  a.href = name === "run_id" ? `/runs/${encodeURIComponent(value)}` : `/failures/signature?signature=${encodeURIComponent(value)}`;
  a.textContent = value;
  return a;
}
function share(value) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 100 8"); svg.setAttribute("class", "share"); svg.setAttribute("preserveAspectRatio", "none"); svg.setAttribute("aria-hidden", "true");
  for (const [name, width] of [["track", 100], ["fill", 100 * (value || 0)]]) {
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    rect.setAttribute("class", name); rect.setAttribute("width", width); rect.setAttribute("height", 8);
    svg.append(rect);
  }
  return svg;
}
function colour(name, place) { return OUTCOMES.includes(name) ? css(name) : css(COLOURS[place % COLOURS.length]); }
function seriesOf(answer, kind) {
  const at = (name) => answer.columns.indexOf(name);
  const x = at(answer.options.x[0]), by = answer.options.series ? at(answer.options.series[0]) : -1;
  const found = new Map();
  for (const row of answer.rows)
    for (const y of answer.options.y) {
      const many = answer.options.y.length > 1;
      const name = by < 0 ? word(y) : many ? `${row[by]} ${word(y)}` : String(row[by] || "unknown");
      if (!found.has(name)) found.set(name, []);
      found.get(name).push([row[x], row[at(y)]]);
    }
  const order = (name) => { const place = OUTCOMES.indexOf(name); return place < 0 ? 99 : place; };
  const isStacked = kind === "bar" && by >= 0;
  if (isStacked) {  // a stack is by place, so each series needs each place
    const places = [...new Set(answer.rows.map((row) => row[x]))];
    for (const [name, data] of found) { const values = new Map(data); found.set(name, places.map((place) => [place, values.get(place) ?? 0])); }
  }
  return [...found.entries()].sort((a, b) => order(a[0]) - order(b[0])).map(([name, data], place) => ({
    name, data, type: kind, stack: isStacked ? "all" : undefined, showSymbol: data.length < 3, color: colour(name, place), barMaxWidth: 26, symbolSize: 5,
  }));
}
function xyOption(answer, kind) {
  const series = seriesOf(answer, kind), unit = (answer.options.unit || [""])[0];
  const isClock = isTime(answer.rows[0][answer.columns.indexOf(answer.options.x[0])]);
  const categories = [...new Set(answer.rows.map((row) => String(row[answer.columns.indexOf(answer.options.x[0])])))];
  if (!isClock) for (const one of series) { const values = new Map(one.data.map(([a, b]) => [String(a), b])); one.data = categories.map((name) => values.get(name) ?? null); }
  return {
    grid: { left: 8, right: 12, top: series.length > 1 ? 34 : 12, bottom: 4, containLabel: true },
    xAxis: isClock ? { type: "time" } : { type: "category", data: categories },
    yAxis: { type: "value", axisLabel: { formatter: (value) => (unit === "percent" ? `${Math.round(value * 100)} %` : number(value, unit)) } },
    series,
  };
}
function heatOption(answer) {
  const at = (role) => answer.columns.indexOf(answer.options[role][0]);
  const xs = [...new Set(answer.rows.map((row) => row[at("x")]))], ys = [...new Set(answer.rows.map((row) => row[at("y")]))];
  const data = answer.rows.map((row) => [xs.indexOf(row[at("x")]), ys.indexOf(row[at("y")]), row[at("value")]]);
  return {
    grid: { left: 8, right: 12, top: 10, bottom: 4, containLabel: true },
    xAxis: { type: "category", data: xs, axisLabel: { rotate: xs.length > 4 ? 25 : 0, interval: 0 } }, yAxis: { type: "category", data: ys },
    visualMap: { show: false, min: 0, max: Math.max(...data.map((one) => one[2])), inRange: { color: [css("accent-back"), css("open")] } },
    series: [{ type: "heatmap", data, label: { show: true, color: css("text") }, itemStyle: { borderColor: css("card"), borderWidth: 2 } }],
  };
}
function sankeyOption(answer) {
  const at = (role) => answer.columns.indexOf(answer.options[role][0]);
  const links = answer.rows.slice(0, 60).map((row) => ({ source: `${row[at("x")]}`, target: `${row[at("y")]} `, value: row[at("value")] }));
  const names = [...new Set(links.flatMap((one) => [one.source, one.target]))];
  return { series: [{ type: "sankey", left: 8, right: 110, top: 8, bottom: 8, links, nodeGap: 10, lineStyle: { color: "source", opacity: 0.3 }, label: { color: css("text"), fontSize: 11 },
    data: names.map((name, place) => ({ name, itemStyle: { color: css(COLOURS[place % 6]) } })) }] };
}
const OPTIONS = { bars: (answer) => xyOption(answer, "bar"), lines: (answer) => xyOption(answer, "line"), heat: heatOption, sankey: sankeyOption };
function draw(panel, answer) {
  const box = $(".drawing", panel);
  panel.answer = answer;
  if (!answer.rows.length) { box.textContent = ""; box.append(Object.assign(document.createElement("p"), { className: "quiet-text", textContent: "Nothing in this time." })); return; }
  if (answer.chart === "table") { drawTable(box, answer); return; }
  box.replaceChildren();
  box.classList.add("chart");
  if (panel.chart) panel.chart.dispose();
  panel.chart = echarts.init(box, null, { renderer: "canvas" });
  const axis = { axisLine: { lineStyle: { color: css("line") } }, axisLabel: { color: css("soft"), fontSize: 11, hideOverlap: true }, splitLine: { lineStyle: { color: css("line") } }, axisTick: { show: false } };
  const option = OPTIONS[answer.chart](answer);
  for (const name of ["xAxis", "yAxis"]) if (option[name]) option[name] = { ...axis, ...option[name], axisLabel: { ...axis.axisLabel, ...option[name].axisLabel }, ...(name === "xAxis" ? { splitLine: { show: false } } : {}) };
  panel.chart.setOption({
    animation: false, useUTC: true, textStyle: { fontFamily: "system-ui, sans-serif", color: css("text") },
    legend: option.series.length > 1 ? { type: "scroll", top: 0, left: 0, itemWidth: 10, itemHeight: 8, textStyle: { color: css("soft"), fontSize: 11 }, pageIconColor: css("soft"), pageTextStyle: { color: css("soft") } } : undefined,
    tooltip: { renderMode: "richText", trigger: answer.chart === "bars" || answer.chart === "lines" ? "axis" : "item", confine: true, order: "valueDesc", backgroundColor: css("card"), borderColor: css("line"), textStyle: { color: css("text"), fontSize: 12 }, valueFormatter: (value) => number(value, (answer.options.unit || [""])[0]) },
    ...option,
  });
  box.setAttribute("aria-label", `${$("h2", panel).textContent}: ${answer.rows.length} rows; the SQL below gives them as a table`);
}
async function load(panel) {
  if (panel.dataset.rows) { draw(panel, JSON.parse(panel.dataset.rows)); return; }
  const query = panel.closest("[data-query]").dataset.query;
  try {
    const response = await fetch(`/api/panels/${panel.dataset.panel}${query}`);
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
    draw(panel, answer);
  } catch (error) {
    $(".drawing", panel).textContent = `Could not be loaded: ${error.message}`;
  }
}
const panels = $$("[data-panel], [data-rows]");
if (panels.length) {
  const seen = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => { seen.unobserve(entry.target); load(entry.target); }), { rootMargin: "200px" });
  panels.forEach((panel) => seen.observe(panel));
  addEventListener("resize", () => panels.forEach((panel) => panel.chart?.resize()));
}

// ---- theme
const redraw = () => panels.forEach((panel) => panel.answer && draw(panel, panel.answer));
function switchTheme() {
  const isDark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = isDark ? "light" : "dark";
  try { localStorage.setItem("theme", document.documentElement.dataset.theme); } catch { /* forbidden: this page only */ }
  redraw();
}
$("#theme")?.addEventListener("click", switchTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
$("#keys-open")?.addEventListener("click", () => $("#keys").showModal());

// ---- live list: rows come in at the top; while somebody reads further down, they wait
const live = $("#live");
let source = null, held = [];
const isReading = () => scrollY > 120 || Boolean($("#run-rows tr:focus, #run-rows tr:focus-within")) || String(getSelection()).length > 0;
function put(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const body = $("#run-rows");
  $("#no-runs")?.remove();
  for (const row of [...template.content.querySelectorAll("tr")].reverse()) {
    document.getElementById(row.id)?.remove();
    row.classList.add("fresh");
    body.prepend(row);
  }
  while (body.rows.length > 200) body.rows[body.rows.length - 1].remove();
}
function release() { held.splice(0).forEach(put); $("#paused").hidden = true; }
function follow(isOn) {
  source?.close();
  source = null;
  if (!isOn) { release(); return; }
  source = new EventSource(live.dataset.url);
  source.addEventListener("runs", (event) => {
    held.push(JSON.parse(event.data).html);
    if (isReading()) { $("#held").textContent = held.length; $("#paused").hidden = false; } else release();
  });
}
if (live) {
  const wanted = new URLSearchParams(location.search).get("live") === "1";
  live.checked = wanted;
  if (wanted) follow(true);
  live.addEventListener("change", () => {
    const address = new URL(location);
    if (live.checked) address.searchParams.set("live", "1"); else address.searchParams.delete("live");
    history.replaceState(null, "", address);
    follow(live.checked);
  });
  $("#resume").addEventListener("click", () => { scrollTo(0, 0); document.activeElement?.blur(); release(); });
  $$("#filters select").forEach((select) => select.addEventListener("change", () => $("#filters").requestSubmit()));
  $("#filters").addEventListener("submit", () => $$("#filters select, #filters input").forEach((field) => { if (!field.value) field.disabled = true; }));
}

// ---- SQL
const sql = $("#sql");
if (sql) {
  $$("[data-sql]").forEach((button) => button.addEventListener("click", () => { sql.value = button.dataset.sql; sql.focus(); }));
  sql.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); $("#sql-form .main").click(); } });
  $("[data-plain]")?.addEventListener("click", (event) => { event.preventDefault(); event.stopPropagation();
    const form = $("#sql-form"), field = Object.assign(document.createElement("input"), { type: "hidden", name: "as", value: "csv" });
    form.append(field); HTMLFormElement.prototype.submit.call(form); field.remove(); });
}

// ---- chosen step
document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-close]")) { leave(); return; }
  const row = event.target.closest?.("[data-pane]")?.closest(".row");
  if (row) { $$(".row.chosen").forEach((other) => other.classList.remove("chosen")); row.classList.add("chosen"); }
});

// ---- keys
let isGoing = false;
const rows = () => $$("[data-row]");
function move(step) {
  const all = rows(), here = all.indexOf(document.activeElement.closest?.("[data-row]"));
  const next = all[Math.min(all.length - 1, Math.max(0, here + step))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  if (next?.matches("[data-pane]")) next.click();
}
function tab(step) {
  const all = $$(".head .tabs a"), here = all.findIndex((one) => one.hasAttribute("aria-current"));
  all[here + step]?.click();
}
function leave() {
  const pane = $("#pane .step");
  if (pane) pane.remove(); else document.activeElement?.blur();
}
const KEYS = { j: () => move(1), k: () => move(-1), "/": () => $("#search")?.focus(), l: () => live?.click(), t: switchTheme, "?": () => $("#keys").showModal(), "[": () => tab(-1), "]": () => tab(1),
  Enter: () => document.activeElement.matches("tr[data-row]") && $("a", document.activeElement)?.click(), Escape: leave };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
  if (event.target.matches("input:not([type=checkbox]), textarea, select")) { if (event.key === "Escape") event.target.blur(); return; }
  if (isGoing) { isGoing = false; $(`[data-go="${CSS.escape(event.key)}"]`)?.click(); return; }
  if (event.key === "g") { isGoing = true; setTimeout(() => { isGoing = false; }, 1500); return; }
  const act = KEYS[event.key];
  if (!act) return;
  if (event.key !== "Enter") event.preventDefault();
  act();
});
