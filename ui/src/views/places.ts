// One stream at several places: which is hurt first, and since when.
import type { StreamGroup, StreamRow } from '../schema';
import type { Axis } from '../model/axis';
import { toHash } from '../model/link';
import { h } from './dom';

export function places(g: StreamGroup, rows: Map<string, StreamRow>, axis: Axis): HTMLElement {
  const hurts = [...g.hurts].reverse();
  const place = (i: number) => g.places[i] ?? '';
  const where = (x: StreamGroup['hurts'][number]) => (x.first === 0 ? `at ${place(0)} already` : x.sure ? `between ${place(x.first - 1)} and ${place(x.first)}` : `at ${place(x.first)}; ${place(x.first - 1)} was not watched then`);
  const worst = g.hurts.reduce((n, x) => Math.min(n, x.first), g.places.length);
  return h('div', { class: 'places' },
    h('p', { class: 'way' }, ...g.ids.flatMap((id, i) => {
      const r = rows.get(id);
      const first = i === worst;
      return [i > 0 ? ' → ' : '', h('a', { class: first ? 'place hurt' : 'place', href: toHash({ id, beside: '', by: 0 }) }, `${place(i)}: ${r?.state ?? '–'}`), first ? h('span', { class: 'quiet' }, ' hurt first') : ''];
    })),
    hurts.length === 0 ? h('p', { class: 'quiet' }, 'Nothing hurt it at any place.') : null,
    h('ul', { class: 'plain' }, ...hurts.slice(0, 6).map((x) => h('li', {},
      h('b', {}, `${axis.clock(x.t)} ${where(x)}`), `: ${x.text}`,
      ...x.also.map((text, k) => h('span', { class: 'quiet' }, ` · ${place(x.first + 1 + k)} ${text || 'shows nothing'}`))))),
    hurts.length > 6 ? h('details', { class: 'more' }, h('summary', {}, `${hurts.length - 6 + g.more} earlier`),
      h('ul', { class: 'plain' }, ...hurts.slice(6).map((x) => h('li', {}, `${axis.clock(x.t)} ${where(x)}: ${x.text}`)))) : null);
}
