// The line at the top: where and when, the way to each part, the theme.
import type { Page } from '../schema';
import { seconds } from '../model/format';
import type { Axis } from '../model/axis';
import { h } from './dom';
import { themeButton } from './theme';

/** targetName is what the user named to look at: "unit nginx"; "" is the machine. */
export function targetName(page: Page): string {
  const [named] = Object.entries((page.verdict.target ?? {}) as Record<string, unknown>).filter(([k]) => ['pid', 'unit', 'port', 'netns'].includes(k));
  return named ? `${named[0]} ${String(named[1])}` : '';
}

export function head(page: Page, axis: Axis): HTMLElement {
  const v = page.verdict;
  const target = targetName(page);
  return h('header', {},
    h('a', { class: 'skip', href: '#verdict' }, 'Skip to the verdict'),
    h('strong', { class: 'brand' }, 'snag'),
    h('span', { class: 'where' },
      `${v.of ?? `${v.host} · kernel ${v.kernel}`} · ${seconds(v.window.seconds)}, ${v.window.start.slice(0, 10)} ${axis.clock(0)}–${axis.clock(axis.seconds)} UTC`,
      target ? ` · of ${target}` : ''),
    h('nav', { 'aria-label': 'Parts of the page' }, ...['verdict', ...(page.streams ? ['streams'] : []), 'path', 'timeline', ...(page.flames.length > 0 ? ['profile'] : []), 'tables'].map((id) => h('a', { href: `#${id}` }, id))),
    themeButton());
}
