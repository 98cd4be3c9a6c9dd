// How the page of a running watch gets its data.
import type { StreamDetail, Streams } from '../schema';

/** LiveStreams is what a watch answers. Times are seconds since it began. */
export interface LiveStreams {
  start_ms: number; // since the epoch: when the watch began
  now: number;
  begin: number; // the first that is remembered
  sick: number;
  own: string; // what snag itself costs
  streams: Streams;
}

type Fetch = (path: string) => Promise<{ ok: boolean; status: number; statusText: string; json: () => Promise<unknown> }>;

/** Poller asks for the streams and for the courses of those that are opened. */
export class Poller {
  private asking: Promise<void> | null = null;

  constructor(
    private readonly wanted: () => string[],
    private readonly take: (d: LiveStreams) => void,
    private readonly fail: (why: string) => void,
    private readonly fetch: Fetch = (path) => window.fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(10_000) }),
  ) {}

  /** look asks once; while one look is under way another waits for it and asks again. */
  async look(): Promise<void> {
    if (this.asking) await this.asking;
    this.asking = this.ask();
    await this.asking;
    this.asking = null;
  }

  private async ask(): Promise<void> {
    try {
      const d = (await this.get('streams.json')) as LiveStreams;
      const ids = this.wanted();
      const first = d.streams.rows[0];
      const asked = ids.length > 0 ? ids : first ? [first.id] : [];
      if (asked.length > 0) d.streams.details = (await this.get(`courses.json?${asked.map((id) => `id=${encodeURIComponent(id)}`).join('&')}`)) as StreamDetail[];
      this.take(d);
    } catch (e) {
      this.fail(e instanceof Error ? e.message : String(e));
    }
  }

  private async get(path: string): Promise<unknown> {
    const r = await this.fetch(path);
    if (!r.ok) throw new Error(`${path.split('?')[0]}: ${r.status} ${r.statusText}`);
    return r.json();
  }
}
