// One stream opened: what it is, what happened to it, and its figures on one time axis,
// with its other places or another stream drawn beside it.
import type { StreamGroup, StreamRow, Streams } from '../schema';
import type { Axis } from '../model/axis';
import { value } from '../model/format';
import { coursesOf, quantities, type Shown } from '../model/courses';
import type { Opened } from '../model/link';
import { course, type Drawing } from './course';
import { h } from './dom';
import { marks } from './marks';
import { places } from './places';

export function opened(o: Opened, data: Streams, axis: Axis, go: (o: Opened) => void): Drawing {
  const rows = new Map(data.rows.map((r) => [r.id, r]));
  const row = rows.get(o.id);
  const group = data.groups.find((g) => g.ids.includes(o.id));
  const shown = shownOf(o, data, group);
  const main = shown.find((s) => s.detail.id === o.id && s.by === 0);
  const box = h('article', { class: 'opened', 'aria-label': o.id });
  if (!row || !main) {
    box.append(h('p', { class: 'quiet' }, row ? `Of ${o.id} nothing was measured.` : `There is no stream ${o.id} on this page.`));
    return { box, draw: () => undefined, end: () => undefined };
  }
  const whole = h('button', { type: 'button', class: 'whole', disabled: axis.whole }, 'Whole window');
  whole.addEventListener('click', () => axis.all());
  const now = h('output', { class: 'now', 'aria-live': 'polite' });
  const hurt = main.detail.marks.filter((m) => m.kind === 'freeze').map((m): [number, number] => [m.t, m.open ? axis.seconds : (m.end ?? m.t)]);
  const parts: Drawing[] = [marks(shown, axis), ...quantities.flatMap((q) => {
    const lines = coursesOf(q, shown);
    return lines.length > 0 ? [course(q, lines, axis, hurt)] : [];
  })];
  box.append(title(row, axis), ...facts(row, main, axis).map((text) => h('p', { class: 'quiet' }, text)));
  if (group) box.append(places(group, rows, axis));
  box.append(h('div', { class: 'bar' }, ...choice(o, data, go), now, whole), h('div', { class: 'courses' }, ...parts.map((p) => p.box)));
  const ends = [
    axis.on('range', () => { whole.disabled = axis.whole; }),
    axis.on('cursor', () => { now.textContent = axis.cursor === null ? '' : `${axis.clock(axis.cursor, true)} UTC`; }),
    ...parts.map((p) => p.end),
  ];
  return { box, draw: () => parts.forEach((p) => p.draw()), end: () => ends.forEach((f) => f()) };
}

/** shownOf is the stream, with its other places in their order, or what was chosen beside it. */
function shownOf(o: Opened, data: Streams, group: StreamGroup | undefined): Shown[] {
  const detail = (id: string) => data.details.find((d) => d.id === id);
  const place = (id: string) => group?.places[group.ids.indexOf(id)] ?? id;
  const ids = group && o.beside === '' ? group.ids : [o.id];
  const out: Shown[] = [];
  for (const id of ids) {
    const d = detail(id);
    if (d) out.push({ label: place(id), detail: d, by: 0 });
  }
  const beside = o.beside === '' ? undefined : detail(o.beside);
  if (beside) out.push({ label: o.by === 0 ? o.beside : `${o.beside}, ${o.by > 0 ? `${o.by} s later than` : `${-o.by} s earlier than`} it was`, detail: beside, by: o.by });
  return out;
}

function title(r: StreamRow, axis: Axis): HTMLElement {
  const tone = r.sick ? 'bad' : '';
  return h('h3', {}, r.id, ' ', h('span', { class: `state ${tone}` }, r.state), r.since === null ? '' : h('span', { class: 'quiet' }, ` since ${axis.clock(r.since)}`), r.why ? h('span', { class: 'quiet' }, ` · ${r.why}`) : '');
}

function facts(r: StreamRow, s: Shown, axis: Axis): string[] {
  const made = [r.url, r.protocol, r.codec, r.size, s.detail.threshold === null ? '' : `a freeze after ${value(s.detail.threshold, 's')} without a frame`].filter(Boolean).join(' · ');
  const felt = r.from === null ? 'Nothing hurt it in this time.' : `First hurt at ${axis.clock(r.from)}: ${r.trouble}. ${r.freezes ?? 0} ${r.freezes === 1 ? 'freeze' : 'freezes'}, ${value(r.frozen ?? 0, 's')} frozen in all.`;
  const coarse = s.detail.step > 1 ? `Each point is the least and the most of ${value(s.detail.step, 's')}.` : '';
  const more = s.detail.more_marks > 0 ? `${s.detail.more_marks} events are not drawn.` : '';
  return [made, [felt, coarse, more].filter(Boolean).join(' ')];
}

/** choice is what is drawn beside it: another stream, or the same moved in time. */
function choice(o: Opened, data: Streams, go: (o: Opened) => void): HTMLElement[] {
  const list = h('datalist', { id: 'stream-names' });
  const beside = h('input', { type: 'search', list: 'stream-names', value: o.beside, placeholder: 'compare with a stream', 'aria-label': 'Compare with this stream', class: 'beside' });
  const by = h('input', { type: 'number', step: 'any', value: o.by === 0 ? '' : o.by, placeholder: 'seconds', 'aria-label': 'Move the compared stream by so many seconds: two times of one stream', class: 'by' });
  beside.addEventListener('focus', () => {
    if (list.children.length === 0) list.append(...data.rows.map((r) => h('option', { value: r.id })));
  });
  const change = () => {
    const id = beside.value === '' && by.value !== '' ? o.id : beside.value;
    if (id !== '' && !data.rows.some((r) => r.id === id)) return; // not typed to its end yet
    go({ id: o.id, beside: id, by: Number(by.value) || 0 });
  };
  beside.addEventListener('change', change);
  by.addEventListener('change', change);
  return [h('label', {}, 'beside it ', beside), h('label', {}, 'moved by ', by, ' s'), list];
}
