// How B differs from A: the sentence, for each party A's and B's bar of accounts on one scale, and what
// changed.
import type { Comparison, ComparedParty } from '../schema';
import { bars, scaleOf } from '../model/compared';
import { seconds } from '../model/format';
import { h, section, svg } from './dom';

export function compared(c: Comparison): HTMLElement {
  const part = section('compared', 'B beside A');
  part.append(
    h('article', { class: c.outcome === 'as good' ? 'answer well' : c.outcome === 'worse' ? 'answer' : 'answer unsure' },
      h('p', { class: 'state' }, c.outcome), h('h3', {}, c.sentence)),
    h('p', { class: 'quiet' }, h('b', {}, 'A'), ` ${c.a} · `, h('b', {}, 'B'), ` ${c.b} (the rest of this page is of B)`));
  if (c.parties.length > 0) part.append(h('h4', {}, 'Where the time of an answer goes'), key(), ...c.parties.map(party));
  if (c.changes.length > 0) part.append(h('h4', {}, 'What changed by more than chance'), changes(c));
  return part;
}

function key(): HTMLElement {
  return h('ul', { class: 'legend' },
    h('li', {}, h('span', { class: 'swatch delay', 'aria-hidden': 'true' }), 'could be avoided'),
    h('li', {}, h('span', { class: 'swatch rest', 'aria-hidden': 'true' }), 'work and what it waits for'));
}

function party(p: ComparedParty): HTMLElement {
  const most = scaleOf(p);
  const row = (name: 'A' | 'B', mean: number) => h('div', { class: 'side' }, h('b', {}, name), bar(p, name, most), h('span', {}, seconds(mean)));
  return h('div', { class: 'party' },
    h('p', {}, h('b', {}, p.subject), ` · time of an answer: ${p.change}`),
    row('A', p.mean_a), row('B', p.mean_b),
    h('ul', { class: 'legend' }, ...p.accounts.filter((a) => Math.max(a.a, a.b) >= 0.03 * most).map((a) =>
      h('li', {}, h('span', { class: `swatch ${a.delay ? 'delay' : 'rest'}`, 'aria-hidden': 'true' }), `${a.account}: ${seconds(a.a)} → ${seconds(a.b)}`))));
}

function bar(p: ComparedParty, side: 'A' | 'B', most: number): SVGElement {
  const says = `${side}: ` + p.accounts.map((a) => `${seconds(side === 'A' ? a.a : a.b)} ${a.account}`).join(', ');
  return svg('svg', { class: 'bar-of-accounts', viewBox: '0 0 1000 14', preserveAspectRatio: 'none', role: 'img', 'aria-label': says },
    ...bars(p, side, most).map((b) => svg('rect', { class: b.ink, x: b.x, y: 0, width: b.width, height: 14 })));
}

function changes(c: Comparison): HTMLElement {
  return h('div', { class: 'scroll' }, h('table', { class: 'changes' },
    h('thead', {}, h('tr', {}, ...['What', 'A', 'B'].map((t) => h('th', { scope: 'col' }, t)))),
    h('tbody', {}, ...c.changes.map((x) => h('tr', {}, h('td', {}, x.worse ? h('b', {}, `worse: ${x.what}`) : x.what), h('td', {}, x.a), h('td', {}, x.b))))));
}
