// A strip of time: when something was.
import { svg } from './dom';

export interface Bar {
  x: number; // of 0 to 1
  width: number;
  title: string;
  href?: string | undefined;
  going?: boolean; // it goes on
}

/** strip draws them. stops: each is reached with Tab; not so where there are hundreds. */
export function strip(bars: Bar[], label: string, stops = true): SVGElement {
  const s = svg('svg', { class: 'strip', viewBox: '0 0 1000 10', preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
  for (const b of bars) {
    const bar = svg('rect', { class: b.going ? 'now' : null, x: 1000 * b.x, y: 0, width: 1000 * b.width, height: 10 }, svg('title', {}, b.title));
    s.append(b.href ? svg('a', { href: b.href, tabindex: stops ? null : -1 }, bar) : bar);
  }
  return s;
}
