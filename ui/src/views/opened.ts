// One stream opened: what it is, what happened to it, and its figures on one time axis,
// with its other places or another stream drawn beside it.
import type { StreamGroup, StreamRow, Streams } from '../schema';
import type { Axis } from '../model/axis';
import { value } from '../model/format';
import { type Course, coursesOf, quantities, type Quantity, type Shown } from '../model/courses';
import type { Opened } from '../model/link';
import { course, type Drawing } from './course';
import { h } from './dom';
import { marks } from './marks';
import { places } from './places';
import { renew } from './same';

/** OpenedView is the panel; update gives it newer data, and tells whether it could take
 * them: where there is more or less to draw than before it is made anew. */
export interface OpenedView extends Drawing {
  update: (data: Streams) => boolean;
  wanted: string[]; // the streams whose courses it draws
}

export function opened(o: Opened, given: Streams, axis: Axis, go: (o: Opened) => void): OpenedView {
  let data = given;
  let shown = shownOf(o, data);
  const box = h('article', { class: 'opened', 'aria-label': o.id });
  const wanted = wantedOf(o, data);
  if (!mainOf(o, data, shown)) {
    box.append(h('p', { class: 'quiet' }, data.rows.some((r) => r.id === o.id) ? `Of ${o.id} nothing was measured.` : `There is no stream ${o.id} on this page.`));
    return { box, wanted, draw: () => undefined, end: () => undefined, update: () => false };
  }
  let about = aboutOf(o, data, shown, axis);
  const whole = h('button', { type: 'button', class: 'whole', disabled: axis.whole }, 'Whole window');
  whole.addEventListener('click', () => axis.all());
  const now = h('output', { class: 'now', 'aria-live': 'polite' });
  const above = marks(() => shown, axis);
  const charts = drawn(shown).map(({ q, lines }) => ({ q, view: course(q, lines, axis, hurtOf(o, shown, axis)) }));
  box.append(about, h('div', { class: 'bar' }, ...choice(o, () => data, go), now, whole), h('div', { class: 'courses' }, above.box, ...charts.map((c) => c.view.box)));
  const ends = [
    axis.on('range', () => { whole.disabled = axis.whole; }),
    axis.on('cursor', () => { now.textContent = axis.cursor === null ? '' : `${axis.clock(axis.cursor, true)} UTC`; }),
    above.end, ...charts.map((c) => c.view.end),
  ];
  const shape = (all: Shown[]) => drawn(all).map(({ q, lines }) => [q.title, ...lines.map((l) => l.label)].join('|')).join('\n');
  return {
    box, wanted,
    draw: () => [above, ...charts.map((c) => c.view)].forEach((p) => p.draw()),
    end: () => ends.forEach((f) => f()),
    update: (fresh) => {
      const next = shownOf(o, fresh);
      if (!mainOf(o, fresh, next) || shape(next) !== shape(shown)) return false;
      data = fresh;
      shown = next;
      about = renew(about, aboutOf(o, data, shown, axis));
      above.draw();
      drawn(shown).forEach(({ lines }, i) => charts[i]?.view.update(lines, hurtOf(o, shown, axis)));
      return true;
    },
  };
}

/** drawn are the charts that there is something for. */
function drawn(shown: Shown[]): { q: Quantity; lines: Course[] }[] {
  return quantities.map((q) => ({ q, lines: coursesOf(q, shown) })).filter((c) => c.lines.length > 0);
}

function mainOf(o: Opened, data: Streams, shown: Shown[]): { row: StreamRow; main: Shown } | null {
  const row = data.rows.find((r) => r.id === o.id);
  const main = shown.find((s) => s.detail.id === o.id && s.by === 0);
  return row && main ? { row, main } : null;
}

function hurtOf(o: Opened, shown: Shown[], axis: Axis): [number, number][] {
  const main = shown.find((s) => s.detail.id === o.id && s.by === 0);
  return (main?.detail.marks ?? []).filter((m) => m.kind === 'freeze').map((m): [number, number] => [m.t, m.open ? axis.seconds : (m.end ?? m.t)]);
}

/** aboutOf is what it is and what happened to it, in words. */
function aboutOf(o: Opened, data: Streams, shown: Shown[], axis: Axis): HTMLElement {
  const is = mainOf(o, data, shown);
  const group = groupOf(o, data);
  if (!is) return h('div');
  return h('div', {}, title(is.row, axis), ...facts(is.row, is.main, axis).map((text) => h('p', { class: 'quiet' }, text)),
    group ? places(group, new Map(data.rows.map((r) => [r.id, r])), axis) : null);
}

function groupOf(o: Opened, data: Streams): StreamGroup | undefined {
  return data.groups.find((g) => g.ids.includes(o.id));
}

/** wantedOf are the streams that are drawn: the opened one with its other places, or with
 * what was chosen beside it. */
function wantedOf(o: Opened, data: Streams): string[] {
  if (o.beside !== '') return [...new Set([o.id, o.beside])];
  return groupOf(o, data)?.ids ?? [o.id];
}

/** shownOf is the stream, with its other places in their order, or what was chosen beside it. */
function shownOf(o: Opened, data: Streams): Shown[] {
  const group = groupOf(o, data);
  const detail = (id: string) => data.details.find((d) => d.id === id);
  const out: Shown[] = [];
  for (const id of o.beside === '' ? wantedOf(o, data) : [o.id]) {
    const d = detail(id);
    if (d) out.push({ label: group?.places[group.ids.indexOf(id)] ?? id, detail: d, by: 0 });
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
  const felt = r.from === null ? 'Nothing hurt it in this time.' : `First hurt at ${axis.clock(r.from)}: ${r.trouble}.${r.freezes === null || r.frozen === null ? '' : ` ${r.freezes} ${r.freezes === 1 ? 'freeze' : 'freezes'}, ${value(r.frozen, 's')} frozen in all.`}`;
  const more = s.detail.more_marks > 0 ? `${s.detail.more_marks} events are not drawn.` : '';
  return [made, [felt, s.detail.note, more].filter(Boolean).join(' ')];
}

/** choice is what is drawn beside it: another stream, or the same moved in time. */
function choice(o: Opened, data: () => Streams, go: (o: Opened) => void): HTMLElement[] {
  const list = h('datalist', { id: 'stream-names' });
  const beside = h('input', { type: 'search', list: 'stream-names', value: o.beside, placeholder: 'compare with a stream', 'aria-label': 'Compare with this stream', class: 'beside' });
  const by = h('input', { type: 'number', step: 'any', value: o.by === 0 ? '' : o.by, placeholder: 'seconds', 'aria-label': 'Move the compared stream by so many seconds: two times of one stream', class: 'by' });
  beside.addEventListener('focus', () => {
    if (list.children.length === 0) list.append(...data().rows.map((r) => h('option', { value: r.id })));
  });
  const change = () => {
    const id = beside.value === '' && by.value !== '' ? o.id : beside.value;
    if (id !== '' && !data().rows.some((r) => r.id === id)) return; // not typed to its end yet
    go({ id: o.id, beside: id, by: Number(by.value) || 0 });
  };
  beside.addEventListener('change', change);
  by.addEventListener('change', change);
  return [h('label', {}, 'beside it ', beside), h('label', {}, 'moved by ', by, ' s'), list];
}
