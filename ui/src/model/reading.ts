// Which sample of a line the reader points at.

/** Reading is for how long a sample holds: until its time (a rate, since the sample before), from its time on (what a
 * packet said, until the next one), or nothing of both: then the nearest is read. */
export type Reading = 'until' | 'from' | 'nearest';

/** sampleAt is the index of the sample that a line shows at t; null where the line is not drawn. times ascend. */
export function sampleAt(times: number[], t: number, how: Reading): number | null {
  const last = times.length - 1;
  if (last < 0 || t < (times[0] as number) || t > (times[last] as number)) return null;
  let at = 0; // the first that is not before t
  for (let hi = last; at < hi;) {
    const mid = (at + hi) >> 1;
    if ((times[mid] as number) < t) at = mid + 1;
    else hi = mid;
  }
  if (how === 'until' || at === 0 || times[at] === t) return at;
  if (how === 'from') return at - 1;
  return t - (times[at - 1] as number) <= (times[at] as number) - t ? at - 1 : at;
}

/** extentIn is the least and the most of what a line shows from one time to another, with the samples beside: a line, or
 * a step, leads to them. null is not measured; without values it is null. */
export function extentIn(times: number[], values: (number | null)[], from: number, to: number): [number, number] | null {
  let out: [number, number] | null = null;
  values.forEach((v, i) => {
    if (v === null || (times[i + 1] ?? to) < from || (times[i - 1] ?? from) > to) return;
    out = out ? [Math.min(out[0], v), Math.max(out[1], v)] : [v, v];
  });
  return out;
}
