// What lines of one chart are called in its little room.
import { bare, shortened } from './format';

const least = 8; // letters: what is shared by less stays
const most = 44; // letters

/** distinct are labels that a reader can tell apart: what all begin with, up to a colon, a slash or a space, is left
 * out, and the middle of long ones, unless two would read the same. */
export function distinct(labels: string[]): string[] {
  const all = labels.map(bare);
  const shared = all.length > 1 ? head(all) : '';
  const short = all.map((l) => shortened(shared.length >= least ? `…${l.slice(shared.length)}` : l, most));
  return new Set(short).size === new Set(labels).size ? short : labels;
}

function head(all: string[]): string {
  let shared = all[0] ?? '';
  for (const l of all) while (!l.startsWith(shared)) shared = shared.slice(0, -1);
  return /^.*[:/ ]/.exec(shared)?.[0] ?? '';
}
