// Flame graphs: where the time went, outermost frame on top. Click or Enter zooms,
// the arrow keys walk, a search marks and Enter in it goes from one find to the next.
// Beside a baseline red takes more of the whole than it did then, blue less.
import type { Flame, Page } from '../schema';
import type { Axis } from '../model/axis';
import { Tree } from '../model/flame';
import { count, percent, seconds } from '../model/format';
import { h, section, svg } from './dom';

const row = 18;
const narrow = 1.5; // pixels: what is narrower is not drawn
const letter = 6.6; // pixels, about: what fits into a box
const readable = 60; // pixels: rows in which all frames are narrower are no more than columns without names
const nearlyAll = 0.95; // of the whole: the culprit is as wide there
const always = 14; // rows that are drawn all the same

interface Suspected { pid: number; name: string }

export function flames(page: Page, axis: Axis): HTMLElement | null {
  if (page.flames.length === 0) return null;
  const part = section('profile', 'Where the time went');
  const culprits = page.verdict.verdict.filter((e) => e.state === 'culprit').map((e) => ({ pid: e.subject_ref?.pid ?? 0, name: /(\S+)\[\d+\]/.exec(e.subject)?.[1] ?? '' }));
  const inWords = new Set(page.tables.map((t) => t.name));
  for (const f of page.flames) part.append(flame(f, axis, culprits, inWords.has(`functions-${f.name}`)));
  return part;
}

function flame(f: Flame, axis: Axis, culprits: Suspected[], inWords: boolean): HTMLElement {
  const tree = new Tree(f);
  const amount = (v: number) => (f.unit === 's' ? seconds(v) : `${count(v)} ${f.unit}`);
  const whose = tree.processes(culprits).slice(0, 3);
  const first = whose[0] ?? 0;
  let zoomed = tree.value(first) < nearlyAll * tree.value(0) ? first : 0; // it opens at the culprit
  let at = zoomed;
  let marked = tree.found('');
  let compared = f.before !== undefined;

  const root = svg('svg', { class: 'flame' });
  const box = h('div', {
    class: 'flamebox', tabindex: 0, role: 'group', id: `flame-${f.name}`,
    'aria-label': `${f.title}: a flame graph. Arrow keys walk the frames, Enter zooms into one, Home or Escape shows all.`,
  }, root);
  const says = h('output', { class: 'says', 'aria-live': 'polite' });
  const search = h('input', { type: 'search', placeholder: 'search: function or file', 'aria-label': `Search in ${f.title}; Enter goes to the next find` });
  const matched = h('output', { class: 'quiet', 'aria-live': 'polite' });
  const below = h('p', { class: 'quiet below' });
  const all = h('button', { type: 'button', disabled: true }, 'Show all');

  function draw(): void {
    const wide = Math.max(box.clientWidth, 300);
    const boxes = tree.boxes(zoomed, narrow / wide);
    const whole = boxes.reduce((d, b) => Math.max(d, b.depth), 0) + 1;
    const named = boxes.reduce((d, b) => (marked.nodes.size > 0 || b.node === at || (b.to - b.from) * wide >= readable ? Math.max(d, b.depth) : d), 0) + 1;
    const deep = Math.min(whole, Math.max(named, always));
    below.textContent = deep < whole ? `${whole - deep} deeper rows are not drawn: no frame in them has room for a name. Zoom in to see them.` : '';
    root.setAttribute('viewBox', `0 0 ${wide} ${deep * row}`);
    root.setAttribute('width', String(wide));
    root.setAttribute('height', String(deep * row));
    root.replaceChildren(...boxes.filter((b) => b.depth < deep).map((b) => {
      const from = b.from * wide;
      const w = Math.max((b.to - b.from) * wide - 0.6, 0.5);
      const room = Math.floor((w - 6) / letter);
      const name = tree.name(b.node);
      const cls = ['frame', tree.kind(b.node), compared ? `compared ${tree.change(b.node)}` : '', whose.includes(b.node) ? 'guilty' : '', marked.nodes.has(b.node) ? 'hit' : '', b.node === at ? 'at' : '', b.depth < (tree.depth[zoomed] ?? 0) ? 'above' : ''];
      return svg('g', { class: cls.filter(Boolean).join(' '), 'data-node': b.node },
        svg('rect', { x: from, y: b.depth * row, width: w, height: row - 1, rx: 2 }),
        room >= 3 ? svg('text', { x: from + 4, y: b.depth * row + 13 }, name.length > room ? `${name.slice(0, room - 1)}…` : name) : null);
    }));
    all.disabled = zoomed === 0;
    tell(at);
  }
  function tell(node: number): void {
    const v = tree.value(node);
    const own = tree.self[node] ?? 0;
    const of = `${percent(v / (tree.value(0) || 1))} of all`;
    const object = tree.object(node);
    says.textContent = `${tree.name(node)}${object ? ` (${object})` : ''}: ${amount(v)}, ${of}${own > v / 1e4 && own < v ? `, itself ${amount(own)}` : ''}${f.before ? `, before ${percent(f.before[node] ?? 0)}${tree.byChance(node) ? ' (chance does as much)' : ''}` : ''}`;
  }
  function zoom(node: number): void {
    zoomed = node;
    walk(node);
  }
  function walk(node: number): void {
    at = node;
    if (!tree.within(at, zoomed) && !tree.within(zoomed, at)) zoomed = 0;
    draw();
  }
  const nodeOf = (e: Event) => {
    const g = (e.target as Element).closest('g[data-node]');
    return g ? Number(g.getAttribute('data-node')) : null;
  };
  root.addEventListener('click', (e) => {
    const node = nodeOf(e);
    if (node !== null) zoom(node);
  });
  root.addEventListener('mousemove', (e) => tell(nodeOf(e) ?? at));
  root.addEventListener('mouseleave', () => tell(at));
  box.addEventListener('keydown', (e) => {
    if (e.key === 'Enter') zoom(at);
    else if (e.key === 'Home' || e.key === 'Escape') zoom(0);
    else if (e.key.startsWith('Arrow')) {
      walk(tree.next(at, e.key));
    } else return;
    e.preventDefault();
  });
  search.addEventListener('input', () => {
    marked = tree.found(search.value);
    matched.textContent = search.value.trim() ? `${count(marked.nodes.size)} frames, ${amount(marked.value)}, ${percent(marked.value / (tree.value(0) || 1))}` : '';
    draw();
  });
  search.addEventListener('keydown', (e) => {
    if (e.key !== 'Enter' || marked.nodes.size === 0) return;
    const finds = [...marked.nodes];
    walk(finds[(finds.indexOf(at) + (e.shiftKey ? finds.length - 1 : 1)) % finds.length] ?? 0);
    if (!root.querySelector('.at')) zoom(tree.parent(at)); // too narrow to be seen
    e.preventDefault();
  });
  all.addEventListener('click', () => zoom(0));
  const buttons = whose.map((n) => {
    const button = h('button', { type: 'button', class: 'whose' }, `Zoom to ${tree.name(n)}`);
    button.addEventListener('click', () => zoom(n));
    return button;
  });
  const compare = h('button', { type: 'button', 'aria-pressed': 'true' }, 'Beside the baseline: red more, blue less');
  compare.addEventListener('click', () => {
    compared = !compared;
    compare.setAttribute('aria-pressed', String(compared));
    draw();
  });
  axis.on('layout', draw);
  new ResizeObserver(draw).observe(box);
  return h('div', { class: 'profile' },
    h('h4', {}, f.title, h('span', { class: 'quiet' }, ` · ${amount(f.total)}${f.note ? ` · ${f.note}` : ''}`, inWords ? ' · ' : '',
      inWords ? h('a', { href: `#table-functions-${f.name}` }, 'in words') : null)),
    h('div', { class: 'bar' }, search, matched, all, ...buttons, f.before ? compare : null), says, box, below);
}
