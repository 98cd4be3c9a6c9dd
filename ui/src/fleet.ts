// The page of many hosts of snag serve: which are affected, what holds them up, which are not seen, and what was.
import { ask, leave } from './asking';
import { clock } from './model/board';
import { type Cause, type FleetState, keyOf, summary, unseen, type Unseen, wrong } from './model/fleet';
import type { Row } from './model/history';
import { answer } from './views/answer';
import { cause, hostOf } from './views/causes';
import { h, section } from './views/dom';
import { noteOf, overview, row } from './views/history';
import { keyed } from './views/keyed';
import { themeButton } from './views/theme';

const every = 10_000; // ms: the store is asked no more often
const patience = 20_000; // the server answers within 8 s, even if the store does not
const mostCauses = 50;
const mostUnseen = 100;
const firstRows = 40; // of the timeline

function start(root: HTMLElement): void {
  const where = h('span', { class: 'where' });
  const to = { parts: h('nav', { 'aria-label': 'Parts of the page' }), home: h('nav', { 'aria-label': 'Other pages' }) };
  const trouble = h('p', { class: 'warning', role: 'alert', hidden: true });
  const now = h('div', { role: 'status', 'aria-live': 'polite' });
  const then = h('p', { class: 'quiet' });
  const causes = h('ul', { class: 'plain board' });
  const missing = h('ul', { class: 'plain missing' });
  const clocks = h('ul', { class: 'plain missing' });
  const note = h('p', { class: 'quiet' });
  const whole = h('div', {});
  const rows = h('div', {});
  const more = h('button', { type: 'button', hidden: true });
  const parts = {
    causes: section('causes', 'What holds up which hosts', then, causes),
    unseen: section('unseen', 'Not seen', missing),
    clocks: section('clocks', 'Clocks that are wrong', clocks),
    timeline: section('timeline', 'Incidents of the last 24 hours', note, whole, rows, more),
  };
  for (const s of Object.values(parts)) s.hidden = true;
  root.append(
    h('header', {}, h('a', { class: 'skip', href: '#causes' }, 'Skip to the causes'), h('strong', { class: 'brand' }, 'snag serve'), where, to.parts, to.home, leave(), themeButton()),
    h('main', {}, trouble, section('now', 'Now', now), ...Object.values(parts)),
  );
  let all = false; // rows of the timeline
  let last: FleetState | null = null;
  let got = 0; // when, by a clock that nobody sets
  const draw = (d: FleetState) => {
    const places = d.links;
    const a = summary(d);
    const at = d.causes?.[0]?.host;
    const page = at ? places[at] : undefined;
    keyed(now, [a], () => 'answer', (x) => [x, page], () => answer(a, page ? h('a', { href: page, rel: 'noreferrer' }, `The page of ${at}`) : null));

    const found = d.causes ?? [];
    parts.causes.hidden = found.length === 0;
    parts.causes.classList.toggle('of-then', !!d.failed);
    then.textContent = [d.failed && d.at ? `As it was at ${clock(d.at, d.now)}.` : '', found.length > mostCauses ? `${(found.length - mostCauses).toLocaleString('en')} more causes, which affect no more hosts than the last of these, are left out: snag find --fleet lists them.` : ''].filter((x) => x).join(' ');
    keyed(causes, found.slice(0, mostCauses), keyOf, (c) => [c, mentioned(c, places), d.now.slice(0, 10), firstOf(found, c)], (c) => cause(c, places, d.now, firstOf(found, c)));

    named(missing, parts.unseen, unseen(d), places);
    named(clocks, parts.clocks, wrong(d), places);

    const t = d.timeline;
    parts.timeline.hidden = !t && !d.timeline_failed;
    keyed(to.parts, Object.values(parts).filter((s) => !s.hidden), (s) => s.id, (s) => s.id, (s) => h('a', { href: `#${s.id}` }, s.id));
    note.textContent = `${t && d.failed ? `As it was at ${clock(t.to, d.now)}. ` : ''}${t ? noteOf(t, d.now) : ''}${d.timeline_failed ? ` It could not be read${t ? ` again since ${clock(t.to, d.now)}` : ''}: ${d.timeline_failed}.` : ''}`;
    if (!t) return;
    keyed(whole, [t], () => 'whole', (x) => [x.to, x.affected], () => overview(t, d.now));
    const some = all ? t.rows : t.rows.slice(0, firstRows);
    keyed(rows, some, (r: Row) => JSON.stringify([r.host, r.suspect]), (r) => [r, t.to, places[r.host]], (r) => row(r, t, places, d.now));
    more.hidden = t.rows.length <= firstRows;
    more.textContent = all ? `Show the first ${firstRows} only` : `Show ${t.rows.length - firstRows} more`;
  };
  more.addEventListener('click', () => {
    all = !all;
    if (last) draw(last);
  });
  ask<FleetState>({
    path: 'fleet.json', every, patience,
    take: (d) => {
      last = d;
      got = performance.now();
      trouble.hidden = true;
      where.textContent = `${d.store} · ${d.at ? clock(d.at, d.now) : 'no answer yet'}`;
      const n = (d.hosts ?? []).filter((x) => x.state === 'affected').length;
      document.title = d.failed ? '(?) snag: many hosts' : `${n > 0 ? `(${n}) ` : ''}snag: many hosts`;
      to.home.replaceChildren(...(d.host ? [h('a', { href: './' }, `this host: ${d.host}`)] : []));
      draw(d);
    },
    fail: (why) => {
      trouble.hidden = false;
      trouble.textContent = `No answer: ${why}. Is snag serve still running? What is shown is of ${where.textContent || 'no time'}.`;
      document.title = 'no answer · snag serve';
      if (last) draw({ ...last, failed: 'snag serve does not answer', now: new Date(Date.parse(last.now) + performance.now() - got).toISOString() });
    },
  });
}

/** firstOf is of how many victims a cause shows the way at once: of the first causes of more. */
function firstOf(all: Cause[], c: Cause): number {
  return all.indexOf(c) < 3 ? 4 : 1;
}

/** named fills a list of hosts with what is to be said of each, and hides its part if there are none. */
function named(list: HTMLElement, part: HTMLElement, all: Unseen[], places: Record<string, string>): void {
  part.hidden = all.length === 0;
  const shown = all.slice(0, mostUnseen);
  if (all.length > mostUnseen) shown.push({ name: '', text: `${(all.length - mostUnseen).toLocaleString('en')} more are left out: snag find --fleet --json lists them.` });
  keyed(list, shown, (u) => u.name + u.text, (u) => [u, places[u.name]], (u) => h('li', {}, u.name !== '' && hostOf(u.name, places), h('span', {}, u.text)));
}

/** mentioned are the links that a cause's block has: with others it is drawn again. */
function mentioned(c: Cause, places: Record<string, string>): unknown[] {
  return [places[c.host ?? ''], ...c.victims.map((v) => places[v.host])];
}

const root = document.getElementById('page');
if (root) start(root);
