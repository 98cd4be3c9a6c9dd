// Pages of a running snag ask for their data again and again, not while nobody looks.

export interface Asked<T> {
  path: string;
  every: number; // ms between an answer and the next request
  patience: number; // ms for an answer
  take: (d: T) => void;
  fail: (why: string) => void;
}

/** ask asks at once and then again. A session that is over shows the form. */
export function ask<T>(a: Asked<T>): void {
  let timer = 0;
  let asking = false;
  const look = async () => {
    try {
      const r = await fetch(a.path, { cache: 'no-store', signal: AbortSignal.timeout(a.patience) });
      if (r.status === 401) return location.reload();
      if (!r.ok) throw new Error(`${r.status} ${r.statusText}`);
      a.take((await r.json()) as T);
    } catch (e) {
      a.fail(e instanceof Error ? e.message : String(e));
    }
  };
  const turn = async () => {
    if (asking) return;
    asking = true;
    if (!document.hidden) await look();
    asking = false;
    timer = window.setTimeout(() => void turn(), a.every);
  };
  document.addEventListener('visibilitychange', () => {
    if (document.hidden || asking) return;
    window.clearTimeout(timer);
    void turn();
  });
  void turn();
}

/** leave is the button that ends the session. */
export function leave(): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Log out';
  button.addEventListener('click', () => void fetch('logout', { method: 'POST' }).finally(() => location.reload()));
  return button;
}
