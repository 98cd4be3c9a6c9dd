// What came of snag's own load: its requests, and where their time passed.
import type { Load } from '../schema';
import { percent, seconds } from '../model/format';
import { h } from './dom';

export function load(l: Load): HTMLElement {
  const parts = l.parts
    ? [[seconds(l.parts.own_lag), 'sent late by snag itself'], [seconds(l.parts.waiting), 'waiting for a free connection'], [seconds(l.parts.answer), 'until the answer']]
    : [];
  return h('details', { class: 'line' },
    h('summary', {}, h('b', {}, 'load'), ` · ${l.text.split('. ')[0]}`,
      l.share === null ? '' : `; ${percent(l.share)} of the time for an answer is accounted for at the service`),
    h('p', {}, l.text),
    h('ul', { class: 'plain' }, ...parts.map(([time, what]) => h('li', {}, `${time} ${what}`)), ...l.spent.map((s) => h('li', {}, `${seconds(s.seconds)} ${s.text}`))));
}
