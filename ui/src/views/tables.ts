// The tables: sorted by a click on a head, filtered by words, opened on demand so
// that the page is there at once.
import type { Column, Page, Table } from '../schema';
import type { Axis } from '../model/axis';
import { bytes, count, percent, seconds, shortened } from '../model/format';
import { filtered, type Row, sorted } from '../model/rows';
import { shared } from '../model/paper';
import { h, section, svg } from './dom';
import { printing } from './theme';

const step = 100; // rows drawn at once
const longest = 80; // letters of a cell on paper
const sheet = 56; // rows of all tables together on paper

export function tables(page: Page, axis: Axis): HTMLElement {
  const part = section('tables', 'Tables');
  const printed = shared(page.tables.map((t) => t.rows.length), sheet);
  page.tables.forEach((t, i) => part.append(table(t, axis, printed[i] ?? 0)));
  if (page.left_out.length > 0) part.append(h('p', { class: 'quiet' }, `Left out to keep this page small: ${page.left_out.join('; ')}.`));
  return part;
}

function table(t: Table, axis: Axis, printed: number): HTMLElement {
  const bounded = t.total > t.rows.length ? `${count(t.rows.length)} of ${count(t.total)}, those that matter most` : count(t.total);
  const box = h('details', { class: t.rows.length > 0 ? 'table' : 'table empty', id: `table-${t.name}` }, h('summary', {}, h('b', {}, t.title), ` · ${bounded}`, t.note ? h('span', { class: 'quiet' }, ` · ${t.note}`) : null));
  let drawn = false;
  const draw = () => {
    if (!box.open || drawn) return;
    drawn = true;
    box.append(t.rows.length > 0 ? body(t, axis, printed) : h('p', { class: 'quiet' }, 'no rows'));
  };
  box.addEventListener('toggle', draw);
  axis.on('layout', draw); // on paper it must be there at once
  return box;
}

function body(t: Table, axis: Axis, printed: number): HTMLElement {
  let column = -1;
  let down = true;
  let shown = step;
  // A column that says nothing in any row only takes room.
  const columns = t.columns.map((c, i) => ({ ...c, i })).filter((c) => t.rows.some((r) => r[c.i] !== null && r[c.i] !== ''));
  const search = h('input', { type: 'search', placeholder: 'filter: words, all of them', 'aria-label': `Filter ${t.title}` });
  const found = h('output', { class: 'quiet', 'aria-live': 'polite' });
  const rest = h('button', { type: 'button', class: 'rest' }, 'Show more');
  const rows = h('tbody');
  const heads = columns.map((c) => {
    const button = h('button', { type: 'button' }, c.name);
    button.addEventListener('click', () => {
      down = column === c.i ? !down : c.kind !== 'text';
      column = c.i;
      fill();
    });
    return h('th', { scope: 'col', class: number(c) ? 'n' : '' }, button);
  });

  function fill(): void {
    let all = filtered(t.rows, search.value);
    if (column >= 0) all = sorted(all, column, down);
    heads.forEach((th, k) => {
      const on = columns[k]?.i === column;
      if (on) th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      else th.removeAttribute('aria-sort');
    });
    const most = printing() ? printed : shown;
    rows.replaceChildren(...all.slice(0, most).map((r) => h('tr', { class: marked(r) }, ...columns.map((c) => cell(r[c.i] ?? null, c, axis)))));
    found.textContent = all.length === t.rows.length ? '' : `${count(all.length)} of ${count(t.rows.length)}`;
    rest.hidden = all.length <= most;
    rest.textContent = printing() ? `${count(all.length - most)} more rows are not printed` : `Show ${Math.min(step, all.length - shown)} more of ${count(all.length)}`;
  }
  search.addEventListener('input', () => {
    shown = step;
    fill();
  });
  rest.addEventListener('click', () => {
    shown += step;
    fill();
  });
  fill();
  axis.on('layout', fill); // paper has fewer rows
  return h('div', {}, h('div', { class: 'bar' }, search, found),
    h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': t.title }, h('table', {}, h('thead', {}, h('tr', {}, ...heads)), rows)), rest);
}

function number(c: Column): boolean {
  return c.kind !== 'text' && c.kind !== 'lines';
}

function marked(r: Row): string {
  return typeof r[0] === 'string' && r[0].startsWith('culprit') ? 'culprit' : '';
}

function cell(v: Row[number], c: Column, axis: Axis): HTMLElement {
  if (v === null) return h('td', { class: 'n none', title: 'not measured' }, '–');
  if (c.kind === 'lines') {
    const all = String(v).split('\n');
    return h('td', {}, h('details', { class: 'stack' }, h('summary', {}, `${all[1] ?? all[0]} … ${all.length} frames`), h('pre', {}, String(v))));
  }
  if (c.kind === 'parts') return h('td', {}, parts(String(v), c.name));
  if (typeof v === 'string') return h('td', {}, printing() ? shortened(v, longest) : v);
  const text = { count: count, bytes: bytes, seconds: seconds, ratio: percent, clock: (t: number) => axis.clock(t), rate: (n: number) => `${count(n)}/s`, text: String }[c.kind];
  return h('td', { class: 'n' }, text(v));
}

/** parts draws numbers per mille of the widest row, one behind the other. */
function parts(v: string, names: string): SVGElement {
  const all = v.split(' ').map(Number);
  let x = 0;
  const bars = all.map((w, i) => {
    const bar = svg('rect', { class: `part-${i}`, x, y: 0, width: Math.max(w, w > 0 ? 4 : 0), height: 12 });
    x += w;
    return bar;
  });
  return svg('svg', { class: 'parts', viewBox: '0 0 1000 12', preserveAspectRatio: 'none', role: 'img', 'aria-label': `${names} ${all.join(', ')} per mille of the longest` }, ...bars);
}
