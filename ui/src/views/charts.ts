// The series behind the evidence, on the timeline's axis.
import uPlot from 'uplot';
import type { Chart, Page } from '../schema';
import type { Axis } from '../model/axis';
import { value } from '../model/format';
import { chartId } from './culprit';
import { h } from './dom';
import { axisWidth, frame, plotHeight, shade } from './plot';
import { color, dark, onTheme } from './theme';
import { gutter, keys } from './timeline';

const rates = new Set(['/s', 'bytes/s', 'ratio']); // each value holds since the one before

export function charts(page: Page, axis: Axis): HTMLElement {
  const box = h('div', { class: 'charts' });
  const felt = feltBy(page).flatMap((s) => (s.active ?? []).map((i): [number, number] => [axis.since(i.start), i.end === null ? axis.seconds : axis.since(i.end)]));
  const moving = page.charts.filter((c) => !c.flat);
  const flat = page.charts.filter((c) => c.flat);
  for (const c of moving) box.append(chart(c, axis, felt));
  if (flat.length > 0) {
    box.append(h('details', { class: 'more' }, h('summary', {}, `${flat.length} series that stood still`),
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

function chart(c: Chart, axis: Axis, felt: [number, number][]): HTMLElement {
  const names = c.lines.map(() => h('span', { class: 'value' }));
  const side = h('div', { class: 'side-label' },
    h('h4', {}, c.title),
    h('p', { class: 'quiet about', title: `${c.about}\n${c.id}` }, c.about),
    h('ul', { class: 'plain lines' }, ...c.lines.slice(0, 3).map((l, i) => h('li', {}, h('span', { class: `swatch s${i}` }, '━'), ' ', names[i] as HTMLElement, ' ', h('span', { class: 'quiet' }, l.label)))),
    c.more > 0 || c.lines.length > 3 ? h('p', { class: 'quiet' }, `${c.more + Math.max(0, c.lines.length - 3)} more lines`) : null);
  const plot = h('div', { class: 'plot', tabindex: 0, role: 'img', 'aria-label': `${c.title} of ${c.about}, ${summary(c)}` });
  const figure = h('figure', { class: 'chart', id: chartId(c.id) }, side, plot);
  const data = uPlot.join(c.lines.map((l) => [l.t, l.v] as uPlot.AlignedData));
  let drawn: uPlot | null = null;

  const draw = () => {
    drawn?.destroy();
    drawn = new uPlot(options(c, axis, felt, Math.max(plot.clientWidth, 120)), data, plot);
    drawn.setScale('x', { min: axis.shown[0], max: axis.shown[1] });
  };
  const say = () => {
    const t = axis.cursor;
    c.lines.forEach((l, i) => {
      const e = names[i];
      if (e) e.textContent = t === null ? `most ${value(Math.max(...l.v), c.unit)}` : value(l.v[nearest(l.t, t)] ?? 0, c.unit);
    });
    if (drawn && t !== null) drawn.setCursor({ left: drawn.valToPos(t, 'x'), top: plotHeight / 3 }, false);
    if (drawn && t === null) drawn.setCursor({ left: -10, top: -10 }, false);
  };
  plot.addEventListener('keydown', (e) => keys(e, axis));
  plot.addEventListener('dblclick', () => axis.all());
  axis.on('range', () => drawn?.setScale('x', { min: axis.shown[0], max: axis.shown[1] }));
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

// stairs: a rate holds since the value before, what a packet said (report/page/segments.go) until the next.
function stairs(c: Chart): uPlot.Series.PathBuilder | undefined {
  const align = rates.has(c.unit) ? -1 : c.id.startsWith('segments.') ? 1 : 0;
  return align !== 0 ? uPlot.paths.stepped?.({ align }) : undefined;
}

function options(c: Chart, axis: Axis, felt: [number, number][], width: number): uPlot.Options {
  return {
    ...frame(axis, width, c.unit, (u) => shade(u, felt, color(dark() ? 'felt-dark' : 'felt'))), // when it was felt, behind every chart
    series: [{}, ...c.lines.map((l, i) => ({ stroke: color(`line-${i % 6}`), width: 1.75, spanGaps: true, points: { show: l.t.length < 40 || l.label === again, size: 4 }, paths: l.label === again ? () => null : stairs(c) }))],
  };
}

function nearest(times: number[], t: number): number {
  let best = 0;
  times.forEach((x, i) => {
    if (Math.abs(x - t) < Math.abs((times[best] ?? 0) - t)) best = i;
  });
  return best;
}

function summary(c: Chart): string {
  const l = c.lines[0];
  return l ? `from ${value(Math.min(...l.v), c.unit)} to ${value(Math.max(...l.v), c.unit)}` : 'no values';
}

/** labelWidth is what stands left of a plot: with its axis it is the gutter. */
export const labelWidth = gutter - axisWidth;
