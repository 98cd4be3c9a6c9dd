// The page of snag serve: who is affected now, and the incidents. It asks for its data again and again.
import { answers, bars, clock, lasted, span, what, type BoardState } from './model/board';
import { bare } from './model/format';
import { h, section, svg } from './views/dom';
import { themeButton } from './views/theme';

const every = 2000; // ms between two looks

function start(root: HTMLElement): void {
  const where = h('span', { class: 'where' });
  const trouble = h('p', { class: 'warning', role: 'alert', hidden: true });
  const now = h('div', { role: 'status', 'aria-live': 'polite' });
  const list = h('ul', { class: 'plain board' });
  const note = h('p', { class: 'quiet' });
  const leave = h('button', { type: 'button' }, 'Log out');
  leave.addEventListener('click', () => void fetch('logout', { method: 'POST' }).finally(() => location.reload()));
  root.append(
    h('header', {}, h('a', { class: 'skip', href: '#incidents' }, 'Skip to the incidents'), h('strong', { class: 'brand' }, 'snag serve'), where, leave, themeButton()),
    h('main', {}, trouble, section('now', 'Now', now), section('incidents', 'Incidents', note, list)),
  );
  let shown = '';
  const take = (d: BoardState) => {
    trouble.hidden = !d.damaged;
    trouble.textContent = d.damaged ?? '';
    where.textContent = `${d.host} · ${clock(d.now, d.now)}`;
    document.title = `${d.affected.length > 0 ? `(${d.affected.length}) ` : ''}snag on ${d.host}`;
    fill(now, answers(d).map((a) => answer(a)));
    const same = JSON.stringify([d.groups, d.affected.map((i) => i.id), d.now.slice(0, 16)]); // once a minute the strips move
    if (same === shown) return; // what somebody reads or has in focus stays
    shown = same;
    const { from } = span(d);
    note.textContent = d.all === 0 ? 'None was recorded.' : `${d.all} ${d.all === 1 ? 'incident' : 'incidents'}. The strips begin at ${clock(new Date(from).toISOString(), d.now)}.${d.left ? ` ${d.left} older kinds are left out: snag incidents lists them.` : ''}`;
    fill(list, d.groups.map((g) => group(g, d)));
  };
  const look = async () => {
    try {
      const r = await fetch('state.json', { cache: 'no-store', signal: AbortSignal.timeout(10_000) });
      if (r.status === 401) return location.reload(); // the form
      if (!r.ok) throw new Error(`${r.status} ${r.statusText}`);
      take((await r.json()) as BoardState);
    } catch (e) {
      trouble.hidden = false;
      trouble.textContent = `No answer: ${e instanceof Error ? e.message : String(e)}. Is snag serve still running? What is shown is of ${where.textContent || 'no time'}.`;
      document.title = 'no answer · snag serve';
    }
  };
  const turn = async () => {
    if (!document.hidden) await look();
    timer = window.setTimeout(() => void turn(), every);
  };
  let timer = 0;
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return;
    window.clearTimeout(timer);
    void turn();
  });
  void turn();
}

function fill(box: HTMLElement, children: HTMLElement[]): void {
  box.replaceChildren(...children);
}

function answer(a: ReturnType<typeof answers>[number]): HTMLElement {
  return h(
    'div',
    { class: `answer ${a.tone}` },
    h('div', { class: 'top' }, h('p', { class: 'state' }, a.state), a.incident > 0 && h('a', { href: `incident/${a.incident}` }, `Incident ${a.incident}: the evidence`)),
    h('h3', {}, a.title),
    a.subject !== '' && h('p', { class: 'subject', title: a.subject }, bare(a.subject)),
    a.lead !== '' && h('p', { class: 'lead' }, a.lead),
  );
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
    strip(g.times, d),
  );
}

function strip(times: BoardState['groups'][number]['times'], d: BoardState): SVGElement {
  const s = svg('svg', { class: 'strip', viewBox: '0 0 1000 10', preserveAspectRatio: 'none', role: 'img', 'aria-label': `${times.length} times` });
  for (const b of bars(times, d)) {
    s.append(svg('a', { href: `incident/${b.id}` }, svg('rect', { x: 1000 * b.x, y: 0, width: 1000 * b.width, height: 10 }, svg('title', {}, `incident ${b.id}`))));
  }
  return s;
}

const root = document.getElementById('page');
if (root) start(root);
