// The accounts of an answer in A and B as bars on one scale.
import type { ComparedParty } from '../schema';

export interface Bar { x: number; width: number; ink: 'delay' | 'rest' }

/** scaleOf is the time, in seconds, that fills a bar: the longer of the two. */
export function scaleOf(p: ComparedParty): number {
  const sum = (of: 'a' | 'b') => p.accounts.reduce((n, x) => n + x[of], 0);
  return Math.max(sum('a'), sum('b'));
}

/** bars are the parts of one side's bar, of 1000 in all, those that can be avoided first. */
export function bars(p: ComparedParty, side: 'A' | 'B', most: number): Bar[] {
  if (most <= 0) return [];
  let x = 0;
  return [...p.accounts].sort((m, n) => Number(n.delay) - Number(m.delay)).map((a) => {
    const width = 1000 * (side === 'A' ? a.a : a.b) / most;
    const out: Bar = { x, width, ink: a.delay ? 'delay' : 'rest' };
    x += width;
    return out;
  }).filter((b) => b.width > 0);
}
