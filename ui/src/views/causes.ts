// What holds up which hosts: a block for each cause, with its victims and the way from each.
import { type Cause, titleOf, type Victim, wordsOf } from '../model/fleet';
import { clock } from '../model/board';
import { bare } from '../model/format';
import { h } from './dom';
import { lazy } from './keyed';

/** Places are links to hosts' own pages, by their names. */
export type Places = Record<string, string>;

const most = 300; // that are shown at all

/** hostOf is a host's name, a link where it has a page. */
export function hostOf(name: string, places: Places): HTMLElement {
  const to = places[name];
  return to ? h('a', { class: 'host', href: to, rel: 'noreferrer' }, name) : h('span', { class: 'host' }, name);
}

/** cause is the block; first are the victims that it shows before it is opened. */
export function cause(c: Cause, places: Places, now: string, first: number): HTMLElement {
  const alone = c.victims.length === 1 && c.victims[0]?.host === c.host;
  const title = h('strong', {}, titleOf(c));
  const to = c.host ? places[c.host] : undefined;
  const shown = c.victims.slice(0, c.victims.length === first + 1 ? first + 1 : first);
  const rest = c.victims.slice(shown.length);
  return h('li', { class: 'cause' },
    h('div', { class: 'top' },
      to ? h('a', { href: to, rel: 'noreferrer' }, title) : title,
      h('span', { class: 'quiet' }, `${alone ? 'affects only itself' : `affects ${c.victims.length.toLocaleString('en')} ${c.victims.length === 1 ? 'host' : 'hosts'}`}, since ${clock(c.since, now)}`)),
    c.subject ? h('p', { class: 'subject', title: c.subject }, bare(c.subject)) : null,
    h('ul', { class: 'plain victims' }, ...shown.map((v) => victim(v, c, places))),
    rest.length > 0 && lazy(h('details', {}, h('summary', {}, `${rest.length.toLocaleString('en')} more ${rest.length === 1 ? 'host' : 'hosts'}`)), () => [others(rest, c, places)]),
    c.host ? h('p', { class: 'quiet next' }, `Next, on ${c.host}: `, h('code', {}, 'sudo snag incidents'), ', ', h('code', {}, 'sudo snag find')) : null);
}

function others(rest: Victim[], of: Cause, places: Places): HTMLElement {
  const left = rest.length - most;
  return h('ul', { class: 'plain victims' }, ...rest.slice(0, most).map((v) => victim(v, of, places)),
    left > 0 && h('li', { class: 'quiet' }, `${left.toLocaleString('en')} more are left out: snag find --fleet --json lists them.`));
}

function victim(v: Victim, of: Cause, places: Places): HTMLElement {
  const text: (Node | string)[] = v.host === of.host ? [v.symptom ? 'itself: ' : 'itself'] : [];
  if (v.symptom) text.push(h('span', { title: v.symptom.subject }, v.symptom.name), v.way.length > 0 ? ', ' : '');
  v.way.forEach((s, i) => {
    if (i > 0) text.push('; ', hostOf(s.from, places), ' ');
    const words = wordsOf(s);
    text.push(`${words.does} `, h('code', {}, words.server), words.known);
    if (s.to) text.push(' on ', hostOf(s.to, places));
    text.push(words.more);
    if (words.calls !== '') text.push(h('span', { class: 'quiet' }, ` (${words.calls})`));
  });
  return h('li', {}, hostOf(v.host, places), h('span', {}, ...text));
}
