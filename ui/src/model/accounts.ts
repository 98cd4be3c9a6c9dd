// The accounts of a party's requests as shares of all their time.
import type { Requests } from '../schema';

export interface Share {
  account: string;
  share: number;
  ink: 'claimed' | 'delay' | 'rest' | 'unseen';
  by?: string; // id of the culprit that explains it
}

/** shares parts each account into what a culprit explains and the rest. Accounts of one name are one. */
export function shares(r: Requests): Share[] {
  const out: Share[] = [];
  const add = (s: Share) => {
    const same = out.find((o) => o.account === s.account && o.ink === s.ink);
    if (same) same.share += s.share;
    else if (s.share > 0) out.push(s);
  };
  if (r.seconds <= 0) return out;
  for (const a of r.accounts) {
    const claimed = Math.min(a.seconds, a.claimed_seconds ?? 0);
    add({ account: a.account, share: claimed / r.seconds, ink: 'claimed', by: a.claimed_by });
    add({ account: a.account, share: (a.seconds - claimed) / r.seconds, ink: a.account === 'unseen' ? 'unseen' : a.delay ? 'delay' : 'rest' });
  }
  return out;
}
