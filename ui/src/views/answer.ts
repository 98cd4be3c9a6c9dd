// The first thing on a page of snag serve: who is affected now.
import type { Answer } from '../model/board';
import { bare } from '../model/format';
import { h } from './dom';

/** answer is that block; link is where its evidence is. */
export function answer(a: Answer, link: HTMLElement | null): HTMLElement {
  return h('div', { class: `answer ${a.tone}` },
    h('div', { class: 'top' }, h('p', { class: 'state' }, a.state), link),
    h('h3', {}, a.title),
    a.subject !== '' && h('p', { class: 'subject', title: a.subject }, bare(a.subject)),
    a.lead !== '' && h('p', { class: 'lead' }, a.lead));
}
