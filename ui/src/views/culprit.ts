// One culprit: who, what it did, what it cost, what to do; the way to the symptom;
// the evidence on either side.
import type { Entry, Evidence } from '../schema';
import type { Axis } from '../model/axis';
import { count, percent } from '../model/format';
import { h } from './dom';

const firstTick = 1.5; // s: what acts within it acted when the recording began

export function sinceText(stamp: string, axis: Axis): string {
  const t = axis.since(stamp);
  return t < firstTick ? `already so when the recording began at ${axis.clock(0)} UTC` : `since ${axis.clock(t)} UTC`;
}

export function culprit(e: Entry, axis: Axis, charted: (id: string) => boolean): HTMLElement {
  return h('article', { class: 'answer guilty', id: entryId(e.id) },
    h('div', { class: 'top' }, h('p', { class: 'state' }, 'Culprit'), proof(e)),
    h('h3', {}, capital(e.title)),
    h('p', { class: 'subject' }, e.subject),
    e.holds ? h('p', { class: 'holds' }, `Holds up ${e.holds.at_most ? 'at most ' : ''}${count(e.holds.requests)} requests on average, ${percent(e.holds.share)} of their waiting`) : null,
    h('p', { class: 'lead' }, e.text),
    h('div', { class: 'columns' },
      h('div', {},
        h('h4', {}, 'Evidence'), evidenceList(e, charted),
        e.chain.length > 1 ? h('div', {}, h('h4', {}, 'The way to the symptom'), chain(e, axis)) : null),
      h('div', {},
        e.remedy ? h('div', { class: 'remedy' }, h('h4', {}, 'Remedy'), ...remedy(e.remedy), plan(e)) : null,
        e.harm ? h('p', {}, h('b', {}, 'Harm '), e.harm.text) : null,
        e.since ? h('p', {}, capital(sinceText(e.since, axis))) : null,
        e.next_measurement ? h('div', {}, h('h4', {}, 'Next measurement'), commandBlock(e.next_measurement)) : null)));
}

/** remedy is its parts, those that there are: a command to paste, where it is kept, what the program changes. */
export function remedy(r: NonNullable<Entry['remedy']>): HTMLElement[] {
  return [
    r.now ? h('div', {}, h('b', {}, 'Now'), commandBlock(r.now)) : null,
    r.permanently ? h('p', {}, h('b', {}, 'Permanently '), r.permanently) : null,
    r.program ? h('p', {}, h('b', {}, 'In the program '), r.program) : null,
  ].filter((part) => part !== null);
}

/** plan lists what snag tune plan would set, and what only a program or a person can do. */
function plan(e: Entry): HTMLElement | null {
  const rows = [
    ...(e.settings ?? []).map((s) => h('li', { title: [s.why, s.risk, s.needs].filter(Boolean).join(' · ') }, h('code', {}, s.what))),
    ...(e.calls ?? []).map((c) => h('li', { title: c.why }, c.who, ': ', h('code', {}, c.do))),
  ];
  return rows.length > 0 ? h('ul', { class: 'plan' }, ...rows) : null;
}

export function entryId(id: string): string {
  return `entry-${id.replace(/[^a-z0-9]+/gi, '-')}`;
}

/** proof is what the accusation rests on; it names the confidence only where that is low. */
function proof(e: Entry): HTMLElement {
  return h('p', { class: 'proof' }, h('code', {}, e.suspect), e.proof ? ` · ${e.proof}` : null);
}

/** chain is the way from the culprit to the symptom; the culprit itself stands above. */
function chain(e: Entry, axis: Axis): HTMLElement {
  return h('ol', { class: 'chain' }, ...e.chain.slice(1).map((l) => h('li', {},
    h('b', {}, l.name), l.subject === e.subject ? '' : ` · ${l.subject}`, l.text ? ` · ${l.text}` : '',
    h('span', { class: 'quiet' }, ` ${axis.clock(axis.since(l.onset))}`, l.coincidence && l.telling ? ` · in time: ${l.coincidence}` : ''))));
}

export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

const sides = { for: '+', against: '−', missing: '?' } as const;
const strength = { decisive: 0, strong: 1, weak: 2 } as const;

export function evidenceList(e: Entry, charted: (id: string) => boolean): HTMLElement {
  const order = ['for', 'against', 'missing'];
  const all = [...e.evidence].sort((a, b) => order.indexOf(a.side) - order.indexOf(b.side) || strength[a.grade] - strength[b.grade]);
  return h('ul', { class: 'evidence' }, ...all.map((p) => piece(p, charted)));
}

function piece(p: Evidence, charted: (id: string) => boolean): HTMLElement {
  const drawn = (p.series ?? []).find(charted);
  return h('li', { class: p.side },
    h('span', { class: 'side', role: 'img', 'aria-label': p.side }, sides[p.side]),
    h('span', {}, p.text, ' ',
      p.side === 'missing' ? null : h('span', { class: `grade ${p.grade}` }, p.grade),
      p.source && p.side !== 'missing' ? h('span', { class: 'source' }, ` ${p.source}`) : null,
      p.doubt ? h('span', { class: 'doubt' }, ` doubt: ${p.doubt}`) : null,
      drawn ? h('a', { class: 'to-chart', href: `#${chartId(drawn)}` }, 'chart') : null));
}

/** chartId is the place of a chart on the page. */
export function chartId(selector: string): string {
  return `chart-${selector.replace(/[^a-z0-9]+/gi, '-')}`;
}

function commandBlock(text: string): HTMLElement {
  const code = h('pre', { class: 'command', tabindex: 0 }, text);
  const button = h('button', { type: 'button', class: 'copy' }, 'Copy');
  button.addEventListener('click', () => {
    getSelection()?.selectAllChildren(code); // there to copy by hand where the browser does not let us
    navigator.clipboard?.writeText(text).then(
      () => { button.textContent = 'Copied'; },
      () => { button.textContent = 'Selected'; },
    );
  });
  return h('div', { class: 'copyable' }, code, button);
}
