// One chart of an opened stream: a quantity of it, and of what is drawn beside it.
import uPlot from 'uplot';
import type { Axis } from '../model/axis';
import { value } from '../model/format';
import { extentIn } from '../model/reading';
import { at, type Course, extent, type Quantity } from '../model/courses';
import { h } from './dom';
import { follow, frame, point, shade } from './plot';
import { color, dark, onTheme } from './theme';
import { keys } from './timeline';

/** Drawing is something on the page that can be taken away again. */
export interface Drawing {
  box: HTMLElement;
  draw: () => void; // once it is in the page
  end: () => void;
}

/** CourseDrawing can be given other values of the same lines. */
export interface CourseDrawing extends Drawing {
  update: (lines: Course[], hurt: [number, number][]) => void;
}

const joined = (lines: Course[]) => uPlot.join(lines.map((l) => [l.t, l.low, l.high] as uPlot.AlignedData));

export function course(q: Quantity, given: Course[], axis: Axis, shaded: [number, number][]): CourseDrawing {
  let lines = given;
  let hurt = shaded;
  const says = lines.map(() => h('span', { class: 'value' }));
  const side = h('div', { class: 'side-label' },
    h('h4', {}, q.title, h('span', { class: 'quiet' }, q.unit ? ` ${q.unit}` : '')),
    h('p', { class: 'quiet about', title: q.about }, q.about),
    h('ul', { class: 'plain lines' }, ...lines.slice(0, 6).map((l, i) => h('li', {}, h('span', { class: `swatch s${l.color % 6}` }, '━'), ' ', says[i] as HTMLElement, ' ', h('span', { class: 'quiet' }, l.label)))));
  const plot = h('div', { class: 'plot', tabindex: 0, role: 'img', 'aria-label': `${q.title}: ${lines.map((l) => `${l.label} ${range(l, q.unit)}`).join(', ')}` });
  const box = h('figure', { class: 'chart course' }, side, plot);
  let data = joined(lines);
  let drawn: uPlot | null = null;

  const draw = () => {
    drawn?.destroy();
    drawn = new uPlot(options(q, () => lines, axis, () => hurt, Math.max(plot.clientWidth, 120)), data, plot);
    follow(drawn, axis);
  };
  const say = () => {
    const t = axis.cursor;
    lines.forEach((l, i) => {
      const e = says[i];
      if (e) e.textContent = t === null ? range(l, q.unit) : spoken(at(l, t), q.unit);
    });
    if (drawn) point(drawn, axis);
  };
  plot.addEventListener('keydown', (e) => keys(e, axis));
  plot.addEventListener('dblclick', () => axis.all());
  let wide = 0;
  const resized = () => {
    if (plot.clientWidth === wide || plot.clientWidth === 0) return;
    wide = plot.clientWidth;
    draw();
  };
  const seen = new ResizeObserver(resized);
  seen.observe(plot);
  const ends = [
    axis.on('range', () => drawn && follow(drawn, axis)),
    axis.on('cursor', say), axis.on('layout', resized), onTheme(() => drawn && draw()), () => seen.disconnect(), () => drawn?.destroy(),
  ];
  say();
  const update = (fresh: Course[], spans: [number, number][]) => {
    lines = fresh;
    hurt = spans;
    data = joined(lines);
    drawn?.setData(data, false);
    if (drawn) follow(drawn, axis);
    say();
  };
  return { box, draw: resized, update, end: () => ends.forEach((f) => f()) };
}

function range(l: Course, unit: string): string {
  return spoken(extent(l), unit);
}

function spoken(v: readonly [number, number] | null, unit: string): string {
  if (v === null) return '–';
  const [low, high] = v.map((x) => value(x, unit === 's' ? 's' : ''));
  return low === high ? `${low}` : `${low} to ${high}`;
}

function options(q: Quantity, now: () => Course[], axis: Axis, hurt: () => [number, number][], width: number): uPlot.Options {
  const stepped = uPlot.paths.stepped?.({ align: -1 }); // each value holds since the one before
  const f = frame(axis, width, q.unit, (u) => shade(u, hurt(), color(dark() ? 'felt-dark' : 'felt')));
  const least = q.least ?? 0;
  const lines = now();
  return {
    ...f,
    scales: { x: { time: false, auto: false }, y: { range: () => {
      const all = now().flatMap((l) => [l.low, l.high].flatMap((v) => extentIn(l.t, v, axis.shown[0], axis.shown[1]) ?? []));
      return [Math.min(0, ...all) * 1.12, Math.max(Math.max(0, ...all) * 1.12, least) || 1];
    } } },
    series: [{}, ...lines.flatMap((l): uPlot.Series[] => {
      const stroke = color(`line-${l.color % 6}`);
      const line = { stroke, width: 1.5, spanGaps: false, points: { show: l.t.length < 3, size: 4 }, paths: stepped };
      return [line, line];
    })],
    bands: lines.map((l, i) => ({ series: [2 * i + 2, 2 * i + 1] as uPlot.Band.Bounds, fill: `${color(`line-${l.color % 6}`)}40` })),
  };
}
