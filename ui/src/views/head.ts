// The line at the top: where and when, the way to each part, the theme.
import type { Page } from '../schema';
import { seconds } from '../model/format';
import type { Axis } from '../model/axis';
import { h } from './dom';
import { themeButton } from './theme';

export function head(page: Page, axis: Axis): HTMLElement {
  const v = page.verdict;
  const target = Object.entries((v.target ?? {}) as Record<string, unknown>).filter(([k]) => ['pid', 'unit', 'port', 'netns'].includes(k));
  return h('header', {},
    h('a', { class: 'skip', href: '#verdict' }, 'Skip to the verdict'),
    h('strong', { class: 'brand' }, 'snag'),
    h('span', { class: 'where' },
      `${v.of ?? `${v.host} · kernel ${v.kernel}`} · ${seconds(v.window.seconds)}, ${v.window.start.slice(0, 10)} ${axis.clock(0)}–${axis.clock(axis.seconds)} UTC`,
      target.length > 0 ? ` · of ${target.map(([k, x]) => `${k} ${String(x)}`).join(', ')}` : ''),
    h('nav', { 'aria-label': 'Parts of the page' }, ...['verdict', 'path', 'timeline', ...(page.flames.length > 0 ? ['profile'] : []), 'tables'].map((id) => h('a', { href: `#${id}` }, id))),
    themeButton());
}
