// Where the time of requests went that are held up: a bar for each party, the culprit's part first
// in each account.
import type { Page, Requests } from '../schema';
import { count, percent, seconds } from '../model/format';
import { shares, type Share } from '../model/accounts';
import { h, svg } from './dom';
import { entryId } from './culprit';

export function accounts(page: Page): HTMLElement | null {
  const hurt = (page.verdict.requests ?? []).filter((r) => r.held);
  if (hurt.length === 0) return null;
  return h('div', { class: 'accounts' }, h('h4', {}, 'Where the time of requests went that are held up'), ...hurt.slice(0, 6).map((r) => party(r, page)));
}

function party(r: Requests, page: Page): HTMLElement {
  const all = shares(r);
  const name = (id: string) => page.verdict.verdict.find((e) => e.id === id)?.suspect ?? id;
  return h('div', { class: 'party' },
    h('p', {}, h('b', {}, `${r.role === 'call' ? 'calls of ' : ''}${r.subject}`),
      ` · ${answered(r)}, ${count(r.held ?? 0)} held up on average`),
    bar(all),
    h('ul', { class: 'legend' }, ...all.filter((s) => s.share >= 0.03).map((s) => h('li', {},
      h('span', { class: `swatch ${s.ink}`, 'aria-hidden': 'true' }), `${percent(s.share)} ${s.account}`,
      s.by ? h('span', {}, ', ', h('a', { href: `#${entryId(s.by)}` }, name(s.by))) : null))));
}

// answered is how many were, and how fast.
function answered(r: Requests): string {
  if (r.rate_per_second === 0) return 'none of them answered';
  return `${count(r.rate_per_second)}/s, ${seconds(r.mean_seconds)} on average (p99 ${seconds(r.p99_seconds)})`;
}

function bar(all: Share[]): SVGElement {
  let x = 0;
  const rects = all.map((s) => {
    const rect = svg('rect', { class: s.ink, x, y: 0, width: 1000 * s.share, height: 14 });
    x += 1000 * s.share;
    return rect;
  });
  const says = all.map((s) => `${percent(s.share)} ${s.account}`).join(', ');
  return svg('svg', { class: 'bar-of-accounts', viewBox: '0 0 1000 14', preserveAspectRatio: 'none', role: 'img', 'aria-label': says }, ...rects);
}
