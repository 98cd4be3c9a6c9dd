// Symptoms, findings and evidence under each other on one time axis: what
// coincides stands in one column.
import type { Page } from '../schema';
import type { Axis } from '../model/axis';
import { compact, shortened } from '../model/format';
import { type Lane, lanesOf } from '../model/lanes';
import { h, svg } from './dom';
import { gutterOf, narrow, pad } from './layout';
import { onTheme } from './theme';

const row = 20;
const labelRow = 16; // of a label above its row, where there is no room beside it
const letter = 6.4; // px, about
const top = 22;

export function timeline(page: Page, axis: Axis): HTMLElement {
  const { lanes, left } = lanesOf(page, axis);
  const root = svg('svg', { class: 'timeline' });
  const says = h('output', { class: 'now', 'aria-live': 'polite' });
  const box = h('div', {
    class: 'timebox', tabindex: 0, role: 'group', id: 'timebox',
    'aria-label': 'Timeline. Left and right arrow move the cursor, with Shift the view; plus and minus zoom, Home shows the whole window.',
  }, root);
  const reset = h('button', { type: 'button', id: 'whole', disabled: true }, 'Whole window');
  reset.addEventListener('click', () => axis.all());

  let height = 0;
  const scale = () => {
    const wide = Math.max(box.clientWidth, 200);
    const gutter = gutterOf(wide);
    const [from, to] = axis.shown;
    return { wide, gutter, x: (t: number) => gutter + ((t - from) / (to - from)) * (wide - gutter - pad), t: (x: number) => from + ((x - gutter) / (wide - gutter - pad)) * (to - from) };
  };
  const cursor = svg('line', { class: 'cursor', y1: top });
  const brush = svg('rect', { class: 'brush', y: top, width: 0 });

  function draw(): void {
    const { wide, x } = scale();
    const tall = row + (narrow(wide) ? labelRow : 0);
    height = top + lanes.length * tall + 4;
    cursor.setAttribute('y2', String(height));
    brush.setAttribute('height', String(height - top));
    root.setAttribute('viewBox', `0 0 ${wide} ${height}`);
    root.setAttribute('width', String(wide));
    root.setAttribute('height', String(height));
    root.replaceChildren();
    for (const t of axis.ticks(wide > 900 ? 8 : 5)) {
      root.append(svg('line', { class: 'grid', x1: x(t), x2: x(t), y1: top - 4, y2: height }),
        svg('text', { class: 'tick', x: x(t), y: 12, 'text-anchor': 'middle' }, axis.clock(t, axis.shown[1] - axis.shown[0] < 5)));
    }
    lanes.forEach((lane, i) => root.append(drawLane(lane, top + i * tall, x, axis, wide)));
    root.append(brush, cursor);
    point();
    reset.disabled = axis.whole;
    root.dataset['from'] = String(axis.shown[0]);
    root.dataset['to'] = String(axis.shown[1]);
  }
  function point(): void {
    const t = axis.cursor;
    cursor.setAttribute('visibility', t === null || t < axis.shown[0] || t > axis.shown[1] ? 'hidden' : 'visible');
    if (t === null) {
      says.textContent = '';
      return;
    }
    const at = String(scale().x(t));
    cursor.setAttribute('x1', at);
    cursor.setAttribute('x2', at);
    says.textContent = `${axis.clock(t, true)} UTC`;
  }

  box.addEventListener('keydown', (e) => keys(e, axis));
  drag(box, brush, scale, axis);
  axis.on('range', draw);
  axis.on('cursor', point);
  axis.on('layout', draw);
  onTheme(draw);
  new ResizeObserver(draw).observe(box);
  draw();
  if (lanes.length === 0 && page.charts.length === 0) return h('p', { class: 'quiet' }, 'Nothing was found that has a time.');
  return h('div', {},
    h('div', { class: 'bar' }, h('p', { class: 'quiet hint' }, 'Drag to zoom, here or in a chart; arrow keys move, + and − zoom.'), says, reset),
    box,
    left > 0 ? h('p', { class: 'quiet' }, `${left} more rows are not drawn`) : null);
}

/** labelOf is a row's kind and its subject, cut to the room: the subject gives way, as its tooltip has all of it. */
function labelOf(lane: Lane, wide: number): { name: string; subject: string } {
  const word = lane.kind === 'evidence' ? '+ ' : lane.kind === 'symptom' ? '▲ ' : lane.kind === 'event' ? '· ' : '● ';
  const room = Math.floor(((narrow(wide) ? wide - 4 : gutterOf(wide) - 8) - (lane.kind === 'evidence' ? 14 : 0)) / letter);
  const name = shortened(word + lane.label, room);
  const left = room - name.length - 2;
  return { name, subject: lane.subject && left > 7 ? ` ${compact(lane.subject, left)}` : '' };
}

function drawLane(lane: Lane, place: number, x: (t: number) => number, axis: Axis, wide: number): SVGElement {
  const g = svg('g', { class: `row ${lane.kind}` });
  const above = narrow(wide);
  const y = place + (above ? labelRow - 2 : 0);
  const label = labelOf(lane, wide);
  g.append(svg('text', { x: lane.kind === 'evidence' ? 16 : 2, y: place + (above ? 12 : 14), class: 'row-label' }, svg('title', {}, [`${lane.label} ${lane.subject}`.trim(), lane.about].join('\n')),
    label.name, label.subject ? svg('tspan', { class: 'row-subject' }, label.subject) : null));
  g.append(svg('line', { class: 'ground', x1: gutterOf(wide), x2: wide - pad, y1: y + row / 2, y2: y + row / 2 }));
  const spans = lane.always ? [{ at: [0, axis.seconds] as const, weight: 0.5, text: 'for the whole window, as far as was measured' }] : lane.spans;
  const [from, to] = axis.shown;
  for (const s of spans) {
    if (s.at[1] < from || s.at[0] > to) continue;
    const x1 = x(Math.max(s.at[0], from));
    const x2 = x(Math.min(s.at[1], to));
    g.append(svg('rect', {
      class: lane.always ? 'span always' : 'span', x: x1, y: y + (lane.kind === 'evidence' ? 5 : 3), width: Math.max(x2 - x1, 2),
      height: row - (lane.kind === 'evidence' ? 10 : 6), 'fill-opacity': lane.kind === 'evidence' ? (0.15 + 0.85 * s.weight).toFixed(2) : s.weight < 1 && !lane.always ? s.weight.toFixed(2) : undefined,
    }, svg('title', {}, `${[lane.label, lane.subject].filter(Boolean).join(' ')} ${axis.clock(s.at[0], true)}–${axis.clock(s.at[1], true)} ${s.text}`)));
  }
  return g;
}

/** keys move over time: the same in the timeline and in every chart. */
export function keys(e: KeyboardEvent, axis: Axis): void {
  const [from, to] = axis.shown;
  const at = axis.cursor ?? (from + to) / 2;
  const step = (to - from) / 50;
  const sign = e.key === 'ArrowLeft' ? -1 : 1;
  switch (e.key) {
    case 'ArrowLeft':
    case 'ArrowRight':
      if (e.shiftKey) axis.pan(0.2 * sign);
      else {
        axis.point(at + sign * step);
        if ((axis.cursor ?? 0) < axis.shown[0] || (axis.cursor ?? 0) > axis.shown[1]) axis.pan(0.2 * sign);
      }
      break;
    case '+':
    case '=':
      axis.zoom(0.5, at);
      break;
    case '-':
    case '_':
      axis.zoom(2, at);
      break;
    case 'Home':
    case '0':
    case 'Escape':
      axis.all();
      break;
    default:
      return;
  }
  e.preventDefault();
}

function drag(box: HTMLElement, brush: SVGElement, scale: () => { gutter: number; t: (x: number) => number }, axis: Axis): void {
  let from: number | null = null;
  const at = (e: PointerEvent) => e.clientX - box.getBoundingClientRect().left + box.scrollLeft;
  box.addEventListener('pointerdown', (e) => {
    if (e.button !== 0 || at(e) < scale().gutter) return;
    from = at(e);
    box.setPointerCapture(e.pointerId);
  });
  box.addEventListener('pointermove', (e) => {
    if (at(e) >= scale().gutter) axis.point(scale().t(at(e)));
    if (from === null) return;
    brush.setAttribute('x', String(Math.min(from, at(e))));
    brush.setAttribute('width', String(Math.abs(at(e) - from)));
  });
  box.addEventListener('pointerup', (e) => {
    if (from !== null && Math.abs(at(e) - from) > 4) {
      const [a, b] = [scale().t(Math.max(scale().gutter, Math.min(from, at(e)))), scale().t(Math.max(from, at(e)))];
      axis.show(a, b);
    }
    from = null;
    brush.setAttribute('width', '0');
  });
  box.addEventListener('pointerleave', () => axis.point(null));
  box.addEventListener('dblclick', () => axis.all());
}
