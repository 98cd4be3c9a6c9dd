// The page of snag serve: who is affected now, and the incidents. It asks for its data again and again.
import { ask, leave } from './asking';
import { answers, bars, clock, lasted, span, what, type BoardState } from './model/board';
import { bare } from './model/format';
import { answer } from './views/answer';
import { h, section } from './views/dom';
import { keyed } from './views/keyed';
import { strip } from './views/strip';
import { themeButton } from './views/theme';

const every = 2000; // ms between two looks

function start(root: HTMLElement): void {
  const where = h('span', { class: 'where' });
  const trouble = h('p', { class: 'warning', role: 'alert', hidden: true });
  const now = h('div', { role: 'status', 'aria-live': 'polite' });
  const list = h('ul', { class: 'plain board' });
  const note = h('p', { class: 'quiet' });
  const others = h('nav', { 'aria-label': 'Other pages' });
  root.append(
    h('header', {}, h('a', { class: 'skip', href: '#incidents' }, 'Skip to the incidents'), h('strong', { class: 'brand' }, 'snag serve'), where, others, leave(), themeButton()),
    h('main', {}, trouble, section('now', 'Now', now), section('incidents', 'Incidents', note, list)),
  );
  let shown = '';
  const take = (d: BoardState) => {
    trouble.hidden = !d.damaged;
    trouble.textContent = d.damaged ?? '';
    where.textContent = `${d.host} · ${clock(d.now, d.now)}`;
    if (d.fleet && !others.firstChild) others.append(h('a', { href: 'fleet' }, 'all hosts'));
    document.title = `${d.affected.length > 0 ? `(${d.affected.length}) ` : ''}snag on ${d.host}`;
    keyed(now, answers(d), (a) => String(a.incident), (a) => a, (a) => answer(a, a.incident > 0 ? h('a', { href: `incident/${a.incident}` }, `Incident ${a.incident}: the evidence`) : null));
    const same = JSON.stringify([d.groups, d.affected.map((i) => i.id), d.now.slice(0, 16)]); // once a minute the strips move
    if (same === shown) return; // what somebody reads or has in focus stays
    shown = same;
    const { from } = span(d);
    note.textContent = d.all === 0 ? 'None was recorded.' : `${d.all} ${d.all === 1 ? 'incident' : 'incidents'}. The strips begin at ${clock(new Date(from).toISOString(), d.now)}.${d.left ? ` ${d.left} older kinds are left out: snag incidents lists them.` : ''}`;
    keyed(list, d.groups, (g) => String(g.last.id), (g) => [g, d.affected.map((i) => i.id), d.now.slice(0, 16)], (g) => group(g, d));
  };
  ask<BoardState>({
    path: 'state.json', every, patience: 10_000, take,
    fail: (why) => {
      trouble.hidden = false;
      trouble.textContent = `No answer: ${why}. Is snag serve still running? What is shown is of ${where.textContent || 'no time'}.`;
      document.title = 'no answer · snag serve';
    },
  });
}

function group(g: BoardState['groups'][number], d: BoardState): HTMLElement {
  const w = what(g.last);
  const end = g.last.end ? `lasted ${lasted(g.last.start, g.last.end)}` : d.affected.some((i) => i.id === g.last.id) ? 'goes on' : 'its end was not recorded';
  const times = g.times.length;
  return h(
    'li',
    {},
    h(
      'div',
      { class: 'top' },
      h('a', { href: `incident/${g.last.id}` }, h('strong', {}, w.title)),
      h('span', { class: 'quiet' }, `${times > 1 ? `${times} times, last ` : ''}${clock(g.last.start, d.now)}, ${end}${w.more ? `; ${w.more}` : ''}`),
    ),
    w.subject !== '' && h('p', { class: 'subject', title: w.subject }, bare(w.subject)),
    h('p', {}, w.text),
    strip(bars(g.times, d).map((b) => ({ ...b, title: `incident ${b.id}`, href: `incident/${b.id}` })), `${g.times.length} times`),
  );
}

const root = document.getElementById('page');
if (root) start(root);
