// The one time axis that the timeline and every chart share: what part of the
// window is shown, and where the reader points. Seconds since the window's start.

export type Range = readonly [from: number, to: number];

export class Axis {
  private range: Range;
  private pointed: number | null = null;
  private readonly listeners: Record<'range' | 'cursor' | 'layout', (() => void)[]> = { range: [], cursor: [], layout: [] };

  private first = 0; // what is before it is forgotten

  constructor(
    private length: number,
    private readonly began: number, // ms since the epoch
  ) {
    this.range = [0, length];
  }

  /** seconds is where the window ends. */
  get seconds(): number {
    return this.length;
  }

  get shown(): Range {
    return this.range;
  }
  get cursor(): number | null {
    return this.pointed;
  }
  get whole(): boolean {
    return this.range[0] <= this.first && this.range[1] >= this.seconds;
  }

  /** on calls f from now on, until what it returns is called. */
  on(what: 'range' | 'cursor' | 'layout', f: () => void): () => void {
    this.listeners[what].push(f);
    return () => {
      this.listeners[what] = this.listeners[what].filter((x) => x !== f);
    };
  }

  /** layout tells whoever draws by hand that there is another width now. */
  layout(): void {
    for (const f of this.listeners.layout) f();
  }

  /** show moves to that part, within the window and no shorter than 50 ms. */
  show(from: number, to: number): void {
    const all = this.seconds - this.first;
    const span = Math.min(Math.max(to - from, Math.min(0.05, all)), all);
    const start = Math.min(Math.max(from, this.first), this.seconds - span);
    if (start === this.range[0] && start + span === this.range[1]) return;
    this.range = [start, start + span];
    for (const f of this.listeners.range) f();
  }

  all(): void {
    this.show(this.first, this.seconds);
  }

  /** grow moves the window's end, and what is forgotten. Who looks at the end, or at all of
   * it, goes on doing so; any other part that is shown stays. */
  grow(seconds: number, first: number): void {
    const [from, to] = this.range;
    const whole = this.whole;
    const end = to >= this.length;
    this.length = seconds;
    this.first = first;
    if (whole) this.all();
    else if (end) this.show(seconds - (to - from), seconds);
    else this.show(from, to);
  }

  /** zoom by a factor around a point: under 1 shows less. */
  zoom(factor: number, around: number): void {
    const [from, to] = this.range;
    this.show(around - (around - from) * factor, around + (to - around) * factor);
  }

  /** pan by a share of what is shown. */
  pan(share: number): void {
    const [from, to] = this.range;
    const by = (to - from) * share;
    this.show(from + by, to + by);
  }

  point(t: number | null): void {
    const at = t === null ? null : Math.min(Math.max(t, this.first), this.seconds);
    if (at === this.pointed) return;
    this.pointed = at;
    for (const f of this.listeners.cursor) f();
  }

  /** since turns an RFC 3339 time into seconds since the start. */
  since(stamp: string): number {
    const ms = Date.parse(stamp);
    const ns = /\.\d{3}(\d+)Z$/.exec(stamp)?.[1];
    return (ms - this.began) / 1000 + (ns ? Number(`0.${ns}`) / 1000 : 0);
  }

  /** clock is the time of day (UTC) at a point of the window. */
  clock(t: number, fine = false): string {
    const iso = new Date(this.began + t * 1000).toISOString();
    return fine ? iso.slice(11, 23) : iso.slice(11, 19);
  }

  /** ticks are round times of day in the range, about n of them. */
  ticks(n: number): number[] {
    const [from, to] = this.range;
    const steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200];
    const step = steps.find((s) => (to - from) / s <= n) ?? 86400;
    const offset = (this.began / 1000) % step; // round on the wall clock, not in the window
    const out: number[] = [];
    for (let t = Math.ceil((from + offset) / step) * step - offset; t <= to + 1e-9; t += step) {
      out.push(Math.round(t * 1e6) / 1e6);
    }
    return out;
  }
}

export function axisOf(window: { start: string; seconds: number }): Axis {
  const ms = Date.parse(window.start);
  const ns = /\.\d{3}(\d+)Z$/.exec(window.start)?.[1];
  return new Axis(window.seconds, ms + (ns ? Number(`0.${ns}`) : 0));
}
