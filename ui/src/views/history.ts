// The incidents of the last day: how many hosts were affected when, and a strip for each host and culprit.
import { bars, begin, gaps, levels, type Row, ticks, type Timeline, when } from '../model/history';
import { clock } from '../model/board';
import { bare } from '../model/format';
import { hostOf, type Places } from './causes';
import { h, svg } from './dom';
import { strip } from './strip';

/** noteOf says what is shown, and what is not. */
export function noteOf(t: Timeline, now: string): string {
  const first = begin(t);
  if (first === null) return `The store has nothing of the time since ${clock(t.from, now)}.`;
  const parts = [`From ${clock(new Date(first).toISOString(), now)}${first > Date.parse(t.from) + 2000 * t.step_seconds ? ', before which the store has nothing' : ''}.`];
  parts.push(t.rows.length === 0 ? 'No incident was sent.' : `Ends are exact to ${Math.round(t.step_seconds / 60)} min. What goes on is red.`);
  if (t.left) parts.push(`${t.left.toLocaleString('en')} rows whose incidents are older are left out.`);
  if (t.warnings.length > 0) parts.push(`The store did not answer for all: ${t.warnings.join('; ')}.`);
  return parts.join(' ');
}

/** overview is how many hosts were affected when. */
export function overview(t: Timeline, now: string): HTMLElement {
  const { most, all } = levels(t, now);
  const seen = Math.max(0, ...t.seen);
  const s = svg('svg', { class: 'strip levels', viewBox: '0 0 1000 100', preserveAspectRatio: 'none', role: 'img', 'aria-label': `hosts affected at a time, ${most} at most` });
  for (const g of gaps(t)) s.append(svg('rect', { class: 'gap', x: 1000 * g.x, y: 0, width: 1000 * g.width, height: 100 }, svg('title', {}, 'no host sent anything')));
  for (const l of all) s.append(svg('rect', { x: 1000 * l.x, y: 100 - Math.max(100 * l.height, 6), width: 1000 * l.width, height: Math.max(100 * l.height, 6) }, svg('title', {}, l.title)));
  return h('div', { class: 'past' },
    h('div', { class: 'of' }, h('strong', {}, 'Hosts affected at a time'), h('span', { class: 'quiet' }, most === 0 ? `none of ${seen}` : `${most} of ${seen} at most`)),
    h('div', { class: 'over' }, s, axis(t)));
}

function axis(t: Timeline): HTMLElement {
  const box = h('div', { class: 'ticks quiet', 'aria-hidden': 'true' });
  for (const k of ticks(t)) {
    const e = h('span', {}, k.text);
    e.style.left = `${100 * k.x}%`;
    box.append(e);
  }
  return box;
}

/** row are the incidents of a host with one culprit. */
export function row(r: Row, t: Timeline, places: Places, now: string): HTMLElement {
  return h('div', { class: 'past' },
    h('div', { class: 'of' },
      hostOf(r.host, places),
      h('span', { title: bare(r.subject ?? '') }, r.suspect ?? 'no culprit proved', h('span', { class: 'quiet' }, ` · ${when(r, now)}`))),
    strip(bars(r, t, now, places[r.host]), `${r.incidents.length} ${r.incidents.length === 1 ? 'incident' : 'incidents'}`, false));
}
