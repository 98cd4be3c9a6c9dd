// The streams of the page: a table, the sick first, and the one that is opened.
import type { StreamRow, Streams } from '../schema';
import type { Axis } from '../model/axis';
import { count } from '../model/format';
import { fromHash, type Opened, toHash } from '../model/link';
import { chosenRows, sparkPaths, streamColumns, totals } from '../model/streams';
import { h, section, svg } from './dom';
import { opened, type OpenedView } from './opened';
import { rewrite } from './same';

const step = 100; // rows drawn at once

export interface StreamsView {
  box: HTMLElement;
  draw: () => void; // once it is in the page
  update: (data: Streams) => void; // newer data of a running watch
  wanted: () => string[]; // the streams whose courses are drawn
}

/** streams draws them; of a running watch every column stays, as what is not measured now may be soon. */
export function streams(given: Streams, axis: Axis, live = false): StreamsView {
  let data = given;
  const table = rowsOf(data, axis, live);
  const place = h('div', { id: 'opened' });
  const sums = h('p', { class: 'totals' }, totals(data.rows, data.total));
  const box = section('streams', 'Streams', sums, table.box, place);
  let now: Opened | null = null;
  let drawn: OpenedView | null = null;
  const open = (o: Opened, scroll: boolean) => {
    now = o;
    drawn?.end();
    drawn = opened(o, data, axis, go);
    place.replaceChildren(drawn.box);
    drawn.draw();
    table.mark(o.id);
    if (scroll) place.scrollIntoView({ block: 'nearest' });
  };
  const go = (o: Opened) => {
    history.replaceState(null, '', toHash(o));
    open(o, false);
    window.dispatchEvent(new HashChangeEvent('hashchange'));
  };
  window.addEventListener('hashchange', () => {
    const o = fromHash(location.hash);
    if (o && !(now && toHash(o) === toHash(now))) open(o, true);
  });
  const openWorst = () => {
    const worst = data.rows[0];
    if (worst) open({ id: worst.id, beside: '', by: 0 }, false);
  };
  return {
    box,
    draw: () => {
      const asked = fromHash(location.hash);
      if (asked) open(asked, true);
      else openWorst();
    },
    update: (fresh) => {
      data = fresh;
      sums.textContent = totals(data.rows, data.total);
      table.update(data);
      if (!now) openWorst();
      else if (!drawn?.update(data)) open(now, false);
    },
    wanted: () => drawn?.wanted ?? [],
  };
}

function rowsOf(given: Streams, axis: Axis, live: boolean): { box: HTMLElement; mark: (id: string) => void; update: (data: Streams) => void } {
  let data = given;
  let column = -1;
  let down = true;
  let shown = step;
  let marked = '';
  const search = h('input', { type: 'search', placeholder: 'filter: words, all of them', 'aria-label': 'Filter the streams' });
  const found = h('output', { class: 'quiet', 'aria-live': 'polite' });
  const rest = h('button', { type: 'button' }, 'Show more');
  const body = h('tbody');
  // A column that says nothing in any row only takes room.
  const columns = streamColumns.map((c, i) => ({ ...c, i })).filter((c) => live || c.name === 'fps' || data.rows.some((r) => (c.text(r) ?? '').trim() !== ''));
  const heads = columns.map((c) => {
    const button = h('button', { type: 'button', title: c.title }, c.name);
    button.addEventListener('click', () => {
      down = column === c.i ? !down : c.number;
      column = c.i;
      fill();
    });
    return h('th', { scope: 'col', class: c.number ? 'n' : '' }, button);
  });
  const fill = () => {
    const all = chosenRows(data.rows, search.value, column, down);
    heads.forEach((th, k) => {
      if (columns[k]?.i === column) th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      else th.removeAttribute('aria-sort');
    });
    rewrite(body, all.slice(0, shown).map((r) => h('tr', { class: classOf(r, marked), 'data-id': r.id }, ...columns.map((c) => cell(r, c.name, c.text(r), c.number, axis)))));
    found.textContent = all.length === data.rows.length ? '' : `${count(all.length)} of ${count(data.rows.length)}`;
    rest.hidden = all.length <= shown;
    rest.textContent = `Show ${Math.min(step, all.length - shown)} more of ${count(all.length)}`;
  };
  search.addEventListener('input', () => {
    shown = step;
    fill();
  });
  rest.addEventListener('click', () => {
    shown += step;
    fill();
  });
  body.addEventListener('click', (e) => {
    const id = e.target instanceof Element ? e.target.closest('tr')?.dataset['id'] : undefined;
    if (id !== undefined && !(e.target instanceof HTMLAnchorElement)) location.hash = toHash({ id, beside: '', by: 0 });
  });
  fill();
  return {
    box: h('div', {}, h('div', { class: 'bar' }, search, found, h('p', { class: 'quiet' }, 'A click or Enter opens a stream below.')),
      h('div', { class: 'scroll rows', tabindex: 0, role: 'group', 'aria-label': 'Streams' }, h('table', {}, h('thead', {}, h('tr', {}, ...heads)), body)), rest),
    update: (fresh) => {
      data = fresh;
      fill();
    },
    mark: (id) => {
      marked = id;
      for (const tr of body.rows) tr.className = tr.dataset['id'] === id ? `${tr.className} chosen` : tr.className.replace(' chosen', '');
    },
  };
}

function classOf(r: StreamRow, marked: string): string {
  return (r.sick ? 'sick' : r.frozen ? 'hurt' : 'well') + (r.id === marked ? ' chosen' : '');
}

function cell(r: StreamRow, name: string, text: string | null, n: boolean, axis: Axis): HTMLElement {
  if (name === 'curve') return h('td', {}, curve(r.spark));
  if (name === 'stream') return h('td', { class: 'name' }, h('a', { href: toHash({ id: r.id, beside: '', by: 0 }), title: r.url }, r.name));
  if (name === 'state') return h('td', { class: 'state', title: r.why }, r.state, r.since === null ? '' : h('span', { class: 'quiet' }, ` ${axis.clock(r.since)}`));
  if (text === null) return h('td', { class: 'n none', title: 'not measured' }, '–');
  return h('td', { class: n ? 'n' : '' }, text);
}

function curve(spark: string): SVGElement {
  const { some, none } = sparkPaths(spark, 14);
  const gaps = spark.split('').filter((c) => c === '0').length;
  return svg('svg', { class: 'spark', viewBox: `0 0 ${Math.max(spark.length, 1)} 14`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `frames per second; none in ${gaps} of ${spark.length} columns` },
    svg('path', { class: 'some', d: some }), svg('path', { class: 'none', d: none }));
}
