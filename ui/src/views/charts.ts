// The series behind the evidence, on the timeline's axis.
import uPlot from 'uplot';
import type { Chart, Line, Page } from '../schema';
import type { Axis } from '../model/axis';
import { compact, value } from '../model/format';
import { distinct } from '../model/labels';
import { extentIn, type Reading, sampleAt } from '../model/reading';
import { chartId } from './culprit';
import { h, svg } from './dom';
import { follow, frame, point, shade } from './plot';
import { color, dark, onTheme } from './theme';
import { keys } from './timeline';

const dashes = [[], [9, 3], [2, 3], [9, 3, 2, 3], [16, 4], [5, 5]]; // px; lines differ without their colours too
const beside = { lines: 2, letters: 16 }; // that the legend beside a chart has room for; a larger one is below it
const onPaper = 6; // charts; the rest is on the screen

const rates = new Set(['/s', 'bytes/s', 'ratio']); // each value holds since the one before

export function charts(page: Page, axis: Axis): HTMLElement {
  const box = h('div', { class: 'charts' });
  const felt = feltBy(page).flatMap((s) => (s.active ?? []).map((i): [number, number] => [axis.since(i.start), i.end === null ? axis.seconds : axis.since(i.end)]));
  const moving = page.charts.filter((c) => !c.flat);
  const flat = page.charts.filter((c) => c.flat);
  moving.forEach((c, i) => box.append(chart(c, axis, felt, i < onPaper)));
  if (moving.length > onPaper) box.append(h('p', { class: 'quiet paper-only' }, moving.length - onPaper === 1 ? '1 more chart is not printed' : `${moving.length - onPaper} more charts are not printed`));
  if (flat.length > 0) {
    box.append(h('details', { class: 'more' }, h('summary', {}, `${flat.length} series that did not change`),
      h('ul', { class: 'plain' }, ...flat.map((c) => h('li', { id: chartId(c.id) }, h('b', {}, c.title), ` ${value(c.lines[0]?.v[0] ?? 0, c.unit)} throughout · `, h('span', { class: 'quiet' }, `${c.about} · ${c.id}`))))));
  }
  return box;
}

/** feltBy are the symptoms that the culprits lead to, else all. */
function feltBy(page: Page): Page['verdict']['symptoms'] {
  const ends = page.verdict.verdict.filter((e) => e.state === 'culprit').map((e) => e.chain[e.chain.length - 1]);
  const led = page.verdict.symptoms.filter((s) => ends.some((l) => l?.name === s.name && l.subject === s.subject));
  return led.length > 0 ? led : page.verdict.symptoms;
}

function chart(c: Chart, axis: Axis, felt: [number, number][], printed: boolean): HTMLElement {
  const names = c.lines.map(() => h('span', { class: 'value' }));
  const labels = distinct(c.lines.map((l) => (l.label === c.about ? '' : l.label)));
  const below = labels.length > beside.lines || labels.some((l) => l.length > beside.letters);
  const legend = h('ul', { class: 'plain lines' }, ...c.lines.map((l, i) => h('li', { title: l.label }, swatch(i), ' ', names[i] as HTMLElement, ' ', h('span', { class: 'quiet' }, labels[i]))));
  const side = h('div', { class: 'side-label' },
    h('h4', {}, c.title),
    h('p', { class: 'quiet about', title: `${c.about}\n${c.id}` }, compact(c.about, 34)),
    below ? null : legend,
    c.more > 0 ? h('p', { class: 'quiet' }, `${c.more} more lines are not drawn`) : null);
  const plot = h('div', { class: 'plot', tabindex: 0, role: 'img', 'aria-label': `${c.title} of ${c.about}, ${summary(c)}` });
  const figure = h('figure', { class: printed ? 'chart' : 'chart unprinted', id: chartId(c.id) }, side, h('div', { class: 'drawn' }, plot, below ? legend : null));
  const data = uPlot.join(c.lines.map((l) => [l.t, l.v] as uPlot.AlignedData));
  let drawn: uPlot | null = null;

  const draw = () => {
    drawn?.destroy();
    drawn = new uPlot(options(c, axis, felt, Math.max(plot.clientWidth, 120)), data, plot);
    follow(drawn, axis);
  };
  const say = () => {
    const t = axis.cursor;
    c.lines.forEach((l, i) => {
      const e = names[i];
      if (e) e.textContent = t === null ? `most ${value(Math.max(...l.v), c.unit)}` : spoken(l, t, c);
    });
    if (drawn) point(drawn, axis);
  };
  plot.addEventListener('keydown', (e) => keys(e, axis));
  plot.addEventListener('dblclick', () => axis.all());
  axis.on('range', () => drawn && follow(drawn, axis));
  axis.on('cursor', say);
  onTheme(() => drawn && draw());
  // Drawn once it has a width, and again when that changes.
  let wide = 0;
  const resized = () => {
    if (plot.clientWidth !== wide && plot.clientWidth > 0) {
      wide = plot.clientWidth;
      draw();
    }
  };
  new ResizeObserver(resized).observe(plot);
  axis.on('layout', resized);
  say();
  return figure;
}

const again = 'sent again'; // packets, and no course

// readingOf: a rate holds since the value before, what a packet said (report/page/segments.go) until the next.
function readingOf(c: Chart, l: Line): Reading {
  if (l.label === again) return 'nearest';
  return rates.has(c.unit) ? 'until' : c.id.startsWith('segments.') ? 'from' : 'nearest';
}

/** spoken is what a line shows at a time; where it is not drawn nothing was measured. */
function spoken(l: Line, t: number, c: Chart): string {
  const at = sampleAt(l.t, t, readingOf(c, l));
  return at === null ? '–' : value(l.v[at] as number, c.unit);
}

function paths(c: Chart, l: Line): uPlot.Series.PathBuilder | undefined {
  if (l.label === again) return () => null;
  const how = readingOf(c, l);
  return how === 'nearest' ? undefined : uPlot.paths.stepped?.({ align: how === 'until' ? -1 : 1 });
}

function swatch(i: number): SVGElement {
  return svg('svg', { class: `swatch s${i % 6}`, width: 24, height: 8, 'aria-hidden': 'true' },
    svg('line', { x1: 0, x2: 24, y1: 4, y2: 4, 'stroke-dasharray': dashOf(i).join(' ') || undefined }));
}

function dashOf(i: number): number[] {
  return dashes[i % dashes.length] as number[];
}

function options(c: Chart, axis: Axis, felt: [number, number][], width: number): uPlot.Options {
  const base = frame(axis, width, c.unit, (u) => shade(u, felt, color(dark() ? 'felt-dark' : 'felt'))); // when it was there, behind every chart
  return {
    ...base,
    scales: { ...base.scales, y: { range: () => valuesShown(c, axis) } },
    cursor: { ...base.cursor, dataIdx: (u, i, closest, t) => (i === 0 ? closest : dotOf(u, c, i - 1, t)) },
    series: [{}, ...c.lines.map((l, i) => ({ stroke: color(`line-${i % 6}`), width: 1.75, dash: dashOf(i), spanGaps: true, points: { show: l.t.length < 40 || l.label === again, size: 4 }, paths: paths(c, l) }))],
  };
}

/** valuesShown is the range of a chart's values: of what the shown part has, from 0 on. */
function valuesShown(c: Chart, axis: Axis): [number, number] {
  const all = c.lines.flatMap((l) => extentIn(l.t, l.v, axis.shown[0], axis.shown[1]) ?? []);
  const most = Math.max(0, ...all);
  return [Math.min(0, ...all), most > 0 ? most * 1.12 : 1];
}

/** dotOf is where the cursor's dot of a line is: at the sample that is read, by its index among the times of all lines. */
function dotOf(u: uPlot, c: Chart, line: number, t: number): number | null {
  const l = c.lines[line] as Line;
  const at = sampleAt(l.t, t, readingOf(c, l));
  return at === null ? null : sampleAt(u.data[0] as number[], l.t[at] as number, 'until');
}

function summary(c: Chart): string {
  const l = c.lines[0];
  return l ? `from ${value(Math.min(...l.v), c.unit)} to ${value(Math.max(...l.v), c.unit)}` : 'no values';
}
