// A profile's tree as boxes: what lies where, at which zoom, and what a search finds.
import type { Flame } from '../schema';

export interface Box {
  node: number;
  depth: number;
  from: number; // 0 to 1 of what is shown
  to: number;
}

/** Tree is a flame graph's nodes by index, 0 the whole. */
export class Tree {
  readonly kids: number[][];
  readonly depth: number[];
  readonly self: number[];
  private readonly chance: Set<number>;

  constructor(readonly flame: Flame) {
    this.kids = flame.parent.map(() => []);
    this.depth = flame.parent.map(() => 0);
    this.self = [...flame.value];
    this.chance = new Set(flame.chance);
    flame.parent.forEach((p, i) => {
      if (p < 0) return;
      this.kids[p]?.push(i);
      this.depth[i] = (this.depth[p] ?? 0) + 1;
      this.self[p] = (this.self[p] ?? 0) - (flame.value[i] ?? 0);
    });
  }

  value(node: number): number { return this.flame.value[node] ?? 0; }

  parent(node: number): number { return this.flame.parent[node] ?? -1; }

  name(node: number): string { return this.flame.frames[this.flame.frame[node] ?? -1] ?? 'all'; }

  object(node: number): string { return this.flame.objects[this.flame.frame[node] ?? -1] ?? ''; }

  kind(node: number): string { return this.flame.kinds[this.flame.frame[node] ?? -1] ?? 'all'; }

  /** boxes lays out what is seen with one node over the whole width: those above
   * it as wide as it, those below by their weight, none narrower than least. */
  boxes(zoomed: number, least: number): Box[] {
    const out: Box[] = [];
    for (let n = zoomed; n >= 0; n = this.parent(n)) out.unshift({ node: n, depth: this.depth[n] ?? 0, from: 0, to: 1 });
    const whole = this.value(zoomed);
    if (whole <= 0) return out;
    const below = (node: number, from: number): void => {
      let at = from;
      for (const k of this.kids[node] ?? []) {
        const wide = this.value(k) / whole;
        if (wide >= least) {
          out.push({ node: k, depth: this.depth[k] ?? 0, from: at, to: at + wide });
          below(k, at);
        }
        at += wide;
      }
    };
    below(zoomed, 0);
    return out;
  }

  /** next is the node that an arrow key leads to: up to the parent, down to the
   * heaviest child, left and right to the sibling; where there is none it stays. */
  next(node: number, key: string): number {
    const around = this.kids[this.parent(node)] ?? [node];
    const i = around.indexOf(node);
    switch (key) {
      case 'ArrowUp': return Math.max(0, this.parent(node));
      case 'ArrowDown': return this.kids[node]?.[0] ?? node;
      case 'ArrowLeft': return around[Math.max(0, i - 1)] ?? node;
      case 'ArrowRight': return around[Math.min(around.length - 1, i + 1)] ?? node;
      default: return node;
    }
  }

  /** grew is by how much of the whole a node takes more than it did in the baseline:
   * 0.1 for ten points; null without a baseline. */
  grew(node: number): number | null {
    const before = this.flame.before?.[node];
    return before === undefined ? null : this.value(node) / (this.value(0) || 1) - before;
  }

  /** change is that in a word for a colour: more3 for a lot more, less1 for a little
   * less, '' for what chance does as well. */
  change(node: number): string {
    const by = this.grew(node);
    if (by === null || node === 0 || this.byChance(node)) return '';
    const step = [0.01, 0.05, 0.15].filter((least) => Math.abs(by) >= least).length;
    return step === 0 ? '' : `${by > 0 ? 'more' : 'less'}${step}`;
  }

  /** byChance tells a change that chance makes as well. */
  byChance(node: number): boolean { return this.chance.has(node); }

  /** within tells whether a node lies below another, or is it. */
  within(node: number, above: number): boolean {
    for (let n = node; n >= 0; n = this.parent(n)) if (n === above) return true;
    return false;
  }

  /** processes are those of these process ids, the heaviest first; where none of them was sampled, those of the same
   * names: the workers of a listener's master. */
  processes(subjects: { pid: number; name: string }[]): number[] {
    const all = (this.kids[0] ?? []).filter((n) => this.kind(n) === 'process');
    const own = all.filter((n) => subjects.some((s) => s.pid > 0 && this.name(n).endsWith(`[${s.pid}]`)));
    if (own.length > 0) return own;
    return all.filter((n) => subjects.some((s) => s.name !== '' && this.name(n).startsWith(`${s.name}[`)));
  }

  /** found are the nodes whose name or object holds every word, and what they weigh
   * together: one below another counts once. */
  found(text: string): { nodes: Set<number>; value: number } {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const nodes = new Set<number>();
    let value = 0;
    if (words.length === 0) return { nodes, value };
    const hit = this.flame.frames.map((f, i) => {
      const all = `${f} ${this.flame.objects[i] ?? ''}`.toLowerCase();
      return words.every((w) => all.includes(w));
    });
    const walk = (node: number, counted: boolean): void => {
      const is = hit[this.flame.frame[node] ?? -1] ?? false;
      if (is) nodes.add(node);
      if (is && !counted) value += this.value(node);
      for (const k of this.kids[node] ?? []) walk(k, counted || is);
    };
    walk(0, false);
    return { nodes, value };
  }
}
