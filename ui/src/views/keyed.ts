// Lists that are drawn again and again: what somebody reads, has opened or in focus stays.

const drawn = new WeakMap<Element, { key: string; of: string }>();

/** keyed shows items in order. One whose key and value are those of before keeps its element. */
export function keyed<T>(list: HTMLElement, items: T[], key: (item: T) => string, value: (item: T) => unknown, draw: (item: T) => HTMLElement): void {
  const before = new Map<string, Element>();
  for (const e of list.children) before.set(drawn.get(e)?.key ?? '', e);
  const after = items.map((item) => {
    const k = key(item);
    const of = JSON.stringify(value(item));
    const old = before.get(k);
    if (old && drawn.get(old)?.of === of) return old;
    const e = draw(item);
    drawn.set(e, { key: k, of });
    if (old) take(old, e);
    return e;
  });
  if (after.length === list.children.length && after.every((e, i) => e === list.children[i])) return;
  const at = document.activeElement;
  const moved = after.find((e) => e.contains(at) || pending.get(e) !== undefined);
  list.replaceChildren(...after);
  if (moved) focus(moved, at);
}

const stops = 'a[href], button, summary';
const pending = new WeakMap<Element, number>(); // which stop of it had the focus

/** take has an element opened, and its focus, as the one that it replaces. */
function take(old: Element, now: Element): void {
  const open = [...now.querySelectorAll('details')];
  [...old.querySelectorAll('details')].forEach((d, i) => {
    const same = open[i];
    if (same && d.open) same.open = true;
  });
  const n = [...old.querySelectorAll(stops)].indexOf(document.activeElement as Element);
  if (n >= 0) pending.set(now, n);
}

function focus(e: Element, at: Element | null): void {
  const n = pending.get(e);
  pending.delete(e);
  const stop = n === undefined ? at : [...e.querySelectorAll(stops)][n];
  if (stop instanceof HTMLElement || stop instanceof SVGElement) stop.focus({ preventScroll: true });
}

/** lazy is what is drawn only when it is opened. */
export function lazy(details: HTMLDetailsElement, draw: () => Node[]): HTMLDetailsElement {
  const fill = () => {
    if (!details.open || details.childElementCount > 1) return;
    details.append(...draw());
  };
  details.addEventListener('toggle', fill);
  return details;
}
