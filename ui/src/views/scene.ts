// The path of the data, drawn: peers, interface, socket, process, socket,
// interface, peers, with the numbers on each hop and what was found on it.
import type { Hop, Page, Path } from '../schema';
import { shortened } from '../model/format';
import { h, section, svg } from './dom';
import { entryId } from './culprit';

const onPaper = 1; // paths; the rest is on the screen
const width = 1208;
const hop = { width: 156, gap: 14, head: 34, row: 16, foot: 7 };
const laneNames = ['from', 'interface', 'socket', 'process', 'socket', 'interface', 'to'];
const bad: Record<string, number> = { culprit: 0, symptom: 1, contributing: 2, consequence: 3, risk: 4 };

export function scene(page: Page): HTMLElement {
  const part = section('path', 'Path of the data');
  page.scene.paths.forEach((p, i) => part.append(h('div', { class: i < onPaper ? 'scroll' : 'scroll unprinted', tabindex: 0, role: 'group', 'aria-label': `Path through ${p.title}` }, path(p, i))));
  const rest = page.scene.paths.length - onPaper;
  if (rest > 0) part.append(h('p', { class: 'quiet paper-only' }, rest === 1 ? '1 more path is not printed' : `${rest} more paths are not printed`));
  part.append(legend(), h('p', { class: 'quiet' }, page.scene.rest));
  return part;
}

interface Placed {
  hop: Hop;
  x: number;
  y: number;
  height: number;
}

/** place puts the hops of each lane under each other, the lanes that are there
 * side by side, each lane centred on the tallest. */
function place(p: Path): { at: Map<string, Placed>; height: number; lanes: [number, number][] } {
  const lanes = [...new Set(p.nodes.map((n) => n.lane))].sort((a, b) => a - b);
  const step = lanes.length > 1 ? Math.min((width - hop.width) / (lanes.length - 1), 250) : 0;
  const left = (width - step * (lanes.length - 1) - hop.width) / 2;
  const tall = (n: Hop) => hop.head + (n.note ? hop.row : 0) + n.numbers.length * hop.row + marks(n).length * hop.row + hop.foot;
  const heights = lanes.map((l) => p.nodes.filter((n) => n.lane === l).reduce((sum, n) => sum + tall(n) + hop.gap, -hop.gap));
  const height = Math.max(...heights) + 24;
  const at = new Map<string, Placed>();
  const x: [number, number][] = [];
  lanes.forEach((lane, i) => {
    let y = 20 + (height - 24 - (heights[i] ?? 0)) / 2;
    x.push([lane, left + i * step]);
    for (const n of p.nodes.filter((n) => n.lane === lane)) {
      at.set(n.id, { hop: n, x: left + i * step, y, height: tall(n) });
      y += tall(n) + hop.gap;
    }
  });
  return { at, height, lanes: x };
}

function marks(n: Hop): Hop['marks'] {
  return [...n.marks].sort((a, b) => (bad[a.state] ?? 9) - (bad[b.state] ?? 9)).slice(0, 3);
}

function path(p: Path, i: number): SVGElement {
  const { at, height, lanes } = place(p);
  const root = svg('svg', { viewBox: `0 0 ${width} ${Math.ceil(height)}`, width, height: Math.ceil(height), class: 'path', role: 'img', 'aria-labelledby': `path-${i}` },
    svg('title', { id: `path-${i}` }, describe(p)),
    svg('defs', {}, svg('marker', { id: `arrow-${i}`, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto-start-reverse' },
      svg('path', { d: 'M0 0 L8 4 L0 8 z', class: 'arrow' }))));
  for (const [lane, x] of lanes) root.append(svg('text', { x: x + hop.width / 2, y: 11, class: 'lane', 'text-anchor': 'middle' }, laneNames[lane] ?? ''));
  const labels: SVGElement[] = [];
  for (const e of p.edges) {
    const a = at.get(e.from);
    const b = at.get(e.to);
    if (!a || !b) continue;
    const same = a.x === b.x; // what hangs at a process
    const x1 = same ? a.x + hop.width / 2 : a.x + hop.width;
    const y1 = same ? a.y : a.y + a.height / 2;
    const x2 = same ? b.x + hop.width / 2 : b.x;
    const y2 = same ? b.y + b.height : b.y + b.height / 2;
    const mid = (x1 + x2) / 2;
    const d = same ? `M${x1} ${y1} L${x2} ${y2}` : `M${x1} ${y1} C${mid} ${y1} ${mid} ${y2} ${x2 - 3} ${y2}`;
    root.append(svg('path', { d, class: same ? 'edge hangs' : 'edge', 'marker-end': same ? undefined : `url(#arrow-${i})` }));
    if (e.text && x2 - x1 > 40) {
      const beside = x1 + (x2 - x1) * 0.5;
      labels.push(svg('text', { x: beside, y: (y1 + y2) / 2 - 5, class: 'flow', 'text-anchor': 'middle' }, svg('title', {}, e.text), shortened(e.text, Math.floor((x2 - x1) / 6))));
    }
  }
  for (const placed of at.values()) root.append(drawHop(placed));
  root.append(...labels);
  return root;
}

function drawHop({ hop: n, x, y, height }: Placed): SVGElement {
  const found = marks(n);
  const g = svg('g', { class: `hop ${found[0]?.state ?? ''}`, 'data-kind': n.kind });
  g.append(svg('title', {}, [n.title, n.note, ...n.numbers.map((x) => `${x.label} ${x.value}`), ...n.marks.map((m) => `${m.state}: ${m.name}`)].filter(Boolean).join('\n')));
  g.append(svg('rect', { x, y, width: hop.width, height, rx: 5 }));
  let at = y + 15;
  g.append(svg('text', { x: x + 8, y: at, class: 'kind' }, n.kind === 'others' ? 'more' : n.kind));
  at += 14;
  g.append(svg('text', { x: x + 8, y: at, class: 'title' }, n.title));
  if (n.note) g.append(svg('text', { x: x + 8, y: (at += hop.row), class: 'note' }, n.note));
  for (const m of found) {
    const label = svg('text', { x: x + 8, y: (at += hop.row), class: `mark ${m.state}` }, m.state === 'symptom' ? `▲ ${m.name}` : `● ${m.name}`);
    g.append(m.state === 'culprit' && m.entry ? svg('a', { href: `#${entryId(m.entry)}` }, label) : label);
  }
  for (const k of n.numbers) {
    at += hop.row;
    g.append(svg('text', { x: x + 8, y: at, class: 'label' }, k.label), svg('text', { x: x + hop.width - 8, y: at, class: k.bad ? 'number bad' : 'number', 'text-anchor': 'end' }, k.value));
  }
  return g;
}

/** describe is the picture in words, for whoever does not see it. */
function describe(p: Path): string {
  const found = p.nodes.flatMap((n) => n.marks.map((m) => `${m.state} ${m.name} at ${n.kind} ${n.title}`));
  return `The path of the data through ${p.title}: ${p.nodes.length} hops. ${found.join('; ')}`;
}

/** center scrolls a path that is wider than its box to the culprit, or to where the symptom is. */
function center(path: SVGElement): void {
  const box = path.parentElement;
  const hop = path.querySelector('.hop.culprit') ?? path.querySelector('.hop.symptom');
  if (!box || !hop) return;
  const [b, g] = [box.getBoundingClientRect(), hop.getBoundingClientRect()];
  box.scrollLeft += g.left + g.width / 2 - b.left - b.width / 2;
}

/** fit makes text that is wider than its hop narrower, now that it can be
 * measured: a little by its letters, much by leaving out the middle. */
export function fit(root: ParentNode): void {
  for (const path of root.querySelectorAll<SVGElement>('svg.path')) center(path);
  for (const g of root.querySelectorAll<SVGGElement>('.hop')) {
    const box = g.querySelector('rect')?.getBBox();
    const texts = [...g.querySelectorAll('text')];
    for (const t of texts) {
      const beside = t.classList.contains('label') ? (t.nextElementSibling as SVGTextElement | null)?.getComputedTextLength() ?? 0 : 0;
      const room = (box?.width ?? hop.width) - 15 - (beside > 0 ? beside + 6 : 0);
      let wide = t.getComputedTextLength();
      const whole = t.textContent ?? '';
      for (let n = whole.length - 1; wide > room * 1.2 && n > 6; n--) {
        t.textContent = shortened(whole, n);
        wide = t.getComputedTextLength();
      }
      if (wide > room) {
        t.setAttribute('textLength', room.toFixed(1));
        t.setAttribute('lengthAdjust', 'spacingAndGlyphs');
      }
    }
  }
}

function legend(): HTMLElement {
  return h('p', { class: 'legend quiet' }, h('span', { class: 'key culprit' }, '● culprit'), ' ', h('span', { class: 'key symptom' }, '▲ where the symptom is'), ' ',
    h('span', { class: 'key contributing' }, '● contributing, consequence, risk'), '  numbers that hurt are bold and red');
}
