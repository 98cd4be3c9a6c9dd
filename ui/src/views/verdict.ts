// The answer, in the order in which it is needed: the culprit with what to do, or
// why none is named; then what else is true; then what was ruled out or not seen.
import type { Entry, Page } from '../schema';
import type { Axis } from '../model/axis';
import { h, section } from './dom';
import { accounts } from './accounts';
import { targetName } from './head';
import { load } from './load';
import { capital, culprit, evidenceList, remedy, sinceText } from './culprit';

const open = 3; // culprits shown whole
const onPaper = 3; // of what is opened on demand; more stays shut there

export function verdict(page: Page, axis: Axis, charted: (id: string) => boolean): HTMLElement {
  const v = page.verdict;
  const of = (state: Entry['state']) => v.verdict.filter((e) => e.state === state && !e.elsewhere);
  const culprits = of('culprit');
  const part = section('verdict', 'Verdict');
  part.tabIndex = -1;
  for (const w of v.warnings) part.append(h('p', { class: 'warning' }, w));
  for (const l of v.loads ?? []) part.append(load(l));
  if (culprits.length === 0) part.append(nobody(page, axis));
  if (v.foremost) {
    part.append(h('article', { class: 'answer unsure' }, h('p', { class: 'state' }, 'Not explained'), h('h3', {}, `${v.foremost.subject}: ${v.foremost.text}`),
      h('p', {}, 'No cause was proved; what is named below causes less.'), ...nextMeasurement(v.foremost.next_measurement)));
  }
  culprits.slice(0, open).forEach((e) => part.append(culprit(e, axis, charted)));
  if (culprits.length > open) {
    part.append(more(culprits.length - open === 1 ? '1 more culprit' : `${culprits.length - open} more culprits`, culprits.slice(open).map((e) => culprit(e, axis, charted))));
  }
  const time = accounts(page);
  if (time) part.append(time);
  part.append(also(['contributing', 'consequence', 'risk'].flatMap((s) => of(s as Entry['state'])), charted));
  const elsewhere = v.verdict.filter((e) => e.elsewhere);
  if (elsewhere.length > 0) part.append(h('h4', {}, 'Elsewhere on this host'), also(elsewhere, charted));
  part.append(notSeen(of('not-seen')), ruledOut(of('cleared')));
  return part;
}

const unsure: Record<string, string> = { 'not-enough-seen': 'Not enough seen', slow: 'No fault seen, but slow answers' };

function nobody(page: Page, axis: Axis): HTMLElement {
  const v = page.verdict;
  const box = h('article', { class: v.abstained ? 'answer unsure' : 'answer well' });
  if (v.abstained) {
    box.append(h('p', { class: 'state' }, unsure[v.standing ?? ''] ?? 'No culprit named'), h('h3', {}, capital(v.abstained)));
    if (v.next_measurement) box.append(...nextMeasurement(v.next_measurement));
  } else {
    const unseen = new Set(v.verdict.filter((e) => e.state === 'not-seen').map((e) => e.suspect)).size;
    const risks = v.verdict.filter((e) => e.state === 'risk' && !e.elsewhere);
    const target = targetName(page);
    box.append(h('p', { class: 'state' }, target ? `Nothing wrong with ${target}` : 'Nothing wrong'),
      h('h3', {}, unseen > 0 ? `Nothing wrong seen, but ${unseen} ${unseen === 1 ? 'suspect' : 'suspects'} could not be judged` : risks.length > 0 ? 'Nothing wrong seen, but there are risks' : 'No symptom, and no suspect with harm'));
    if (risks.length > 0) {
      box.append(h('ul', { class: 'plain' }, ...risks.slice(0, 3).map((e) => h('li', {}, h('b', {}, `Risk: ${e.title}`), ` · ${e.subject}`))));
      if (risks.length > 3) box.append(h('p', { class: 'quiet' }, `and ${risks.length - 3} more`));
    }
  }
  const symptoms = v.symptoms.filter((s) => !s.elsewhere);
  if (symptoms.length > 0) {
    box.append(h('p', {}, h('b', {}, 'Symptoms')), h('ul', { class: 'plain' }, ...symptoms.slice(0, 12).map((s) =>
      h('li', {}, h('b', {}, s.name), ` · ${s.subject} · ${s.text} · ${sinceText(s.onset, axis)}`))));
    if (symptoms.length > 12) box.append(h('p', { class: 'quiet' }, `and ${symptoms.length - 12} more`));
  }
  return box;
}

function nextMeasurement(command: string): HTMLElement[] {
  return [h('p', {}, h('b', {}, 'Next measurement')), h('pre', { class: 'command', tabindex: 0 }, command)];
}

/** also is what is true as well: a line each, opened on demand. */
function also(all: Entry[], charted: (id: string) => boolean): HTMLElement {
  const box = h('div', { class: 'also' });
  const line = (e: Entry) => h('details', { class: `line ${e.state}` },
    h('summary', {}, h('span', { class: `badge ${e.state}` }, e.state), ' ', h('b', {}, e.suspect), ` · ${e.subject} · ${e.text}`,
      e.explained_by ? ` · explained by ${e.explained_by}` : ''),
    evidenceList(e, charted),
    ...(e.remedy ? remedy(e.remedy) : []),
    e.next_measurement ? h('pre', { class: 'command', tabindex: 0 }, e.next_measurement) : null);
  const shown = 8;
  all.slice(0, shown).forEach((e) => box.append(line(e)));
  if (all.length > shown) box.append(more(`${all.length - shown} more: contributing, consequences, risks`, all.slice(shown).map(line)));
  return box;
}

function notSeen(all: Entry[]): HTMLElement {
  const box = h('div', { class: 'also' });
  if (all.length === 0) return box;
  const cures = new Map<string, Entry[]>(); // suspects that the same cure would show
  for (const e of all) {
    const key = e.subject === '' && e.next_measurement ? e.next_measurement : e.id;
    cures.set(key, [...(cures.get(key) ?? []), e]);
  }
  const list = [...cures.values()].map((group) => {
    const e = group[0] as Entry;
    return h('li', {}, h('b', {}, group.map((x) => x.suspect).join(', ')), e.subject ? ` · ${e.subject}` : '', ` · ${e.text}`,
      e.next_measurement ? h('span', { class: 'cure' }, 'to see it: ', h('code', {}, e.next_measurement)) : null);
  });
  box.append(h('details', { class: 'line not-seen', open: list.length <= 2 },
    h('summary', {}, h('span', { class: 'badge not-seen' }, 'not seen'), ` ${names(all)} could not be measured or proved: not the same as ruled out`), h('ul', { class: 'plain' }, ...list)));
  return box;
}

function ruledOut(all: Entry[]): HTMLElement {
  const box = h('div', { class: 'also' });
  if (all.length === 0) return box;
  box.append(h('details', { class: 'line cleared' },
    h('summary', {}, h('span', { class: 'badge cleared' }, 'ruled out'), ` ${names(all)}, measured and innocent`),
    h('ul', { class: 'plain' }, ...all.map((e, i) => h('li', { class: all[i - 1]?.suspect === e.suspect ? 'same' : null }, h('b', {}, e.suspect), h('span', { class: 'why' }, `${e.subject ? ` · ${e.subject}` : ''} · ${e.text}`), evidenceList(e, () => false))))));
  return box;
}

function names(all: Entry[]): string {
  const n = new Set(all.map((e) => e.suspect)).size;
  return n === 1 ? '1 suspect' : `${n} suspects`;
}

export function more(title: string, children: HTMLElement[]): HTMLElement {
  const unprinted = children.length > onPaper;
  return h('details', { class: unprinted ? 'more many' : 'more' }, h('summary', {}, title, unprinted ? h('span', { class: 'paper-only' }, 'not printed') : null), ...children);
}
