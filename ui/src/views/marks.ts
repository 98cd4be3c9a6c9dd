// What happened to the streams that are opened, on the axis of their charts.
import type { StreamMark } from '../schema';
import type { Axis } from '../model/axis';
import { type Shown } from '../model/courses';
import { type Drawing } from './course';
import { h, svg } from './dom';
import { gutterOf, narrow, pad } from './layout';
import { keys } from './timeline';

const row = 22;
const bad = new Set(['freeze', 'ended', 'refused', 'audio', 'picture', 'less']);
const worse = new Set(['late', 'slow', 'skipped', 'jump']);
const order: StreamMark['kind'][] = ['verdict', 'freeze', 'ended', 'refused', 'audio', 'picture', 'less', 'late', 'slow', 'skipped', 'jump', 'restarted', 'changed', 'published', 'first-frame', 'observer'];
const called: Partial<Record<StreamMark['kind'], string>> = { audio: 'no audio', less: 'fewer frames or bytes', published: 'let in', 'first-frame': 'first frame', observer: 'snag itself late', jump: 'timestamps jump' };

interface Lane { label: string; kind: StreamMark['kind']; marks: { t: number; end: number; text: string }[] }

/** lanesOf are the rows of marks: of each kind that there is one for each stream, what hurts
 * first. */
export function lanesOf(all: Shown[], seconds: number): Lane[] {
  const out: Lane[] = [];
  for (const kind of order) {
    for (const s of all) {
      const marks = s.detail.marks.filter((m) => m.kind === kind);
      if (marks.length === 0) continue;
      const word = called[kind] ?? kind;
      out.push({
        label: all.length > 1 ? `${word}, ${s.label}` : word, kind,
        marks: marks.map((m) => ({ t: m.t + s.by, end: m.open ? seconds + s.by : (m.end ?? m.t) + s.by, text: m.text })),
      });
    }
  }
  return out;
}

export function marks(all: () => Shown[], axis: Axis): Drawing {
  const root = svg('svg', { class: 'timeline stream-marks' });
  const box = h('div', { class: 'timebox', tabindex: 0, role: 'group', 'aria-label': 'What happened to the stream. Left and right arrow move the cursor, with Shift the view; plus and minus zoom, Home shows the whole window.' }, root);
  const draw = () => {
    const lanes = lanesOf(all(), axis.seconds);
    const wide = Math.max(box.clientWidth, 200);
    const left = gutterOf(wide);
    const tall = narrow(wide) ? row + 12 : row;
    const [from, to] = axis.shown;
    const x = (t: number) => left + ((t - from) / (to - from)) * (wide - left - pad);
    root.setAttribute('viewBox', `0 0 ${wide} ${lanes.length * tall + 4}`);
    root.setAttribute('width', String(wide));
    root.setAttribute('height', String(lanes.length * tall + 4));
    root.replaceChildren(...lanes.map((lane, i) => {
      const y = i * tall + (narrow(wide) ? 14 : 2);
      const tone = lane.kind === 'verdict' ? 'verdict' : bad.has(lane.kind) ? 'bad' : worse.has(lane.kind) ? 'worse' : 'said';
      return svg('g', { class: `mark ${tone}` },
        svg('text', { class: 'row-label', x: 2, y: narrow(wide) ? y - 2 : y + 14 }, svg('title', {}, lane.label), lane.label),
        svg('line', { class: 'ground', x1: left, x2: wide - pad, y1: y + 9, y2: y + 9 }),
        ...lane.marks.filter((m) => m.end >= from && m.t <= to).map((m) => {
          const x1 = x(Math.max(m.t, from));
          return svg('rect', { class: 'span', x: x1, y: y + 2, width: Math.max(x(Math.min(m.end, to)) - x1, 3), height: 14 }, svg('title', {}, `${axis.clock(m.t, true)} ${m.text}`));
        }));
    }));
    root.dataset['from'] = String(from);
    root.dataset['to'] = String(to);
    if (axis.cursor !== null && axis.cursor >= from && axis.cursor <= to) {
      root.append(svg('line', { class: 'cursor', x1: x(axis.cursor), x2: x(axis.cursor), y1: 0, y2: lanes.length * tall + 4 }));
    }
  };
  box.addEventListener('keydown', (e) => keys(e, axis));
  box.addEventListener('dblclick', () => axis.all());
  const seen = new ResizeObserver(draw);
  seen.observe(box);
  const ends = [axis.on('range', draw), axis.on('cursor', draw), axis.on('layout', draw), () => seen.disconnect()];
  return { box, draw, end: () => ends.forEach((f) => f()) };
}
