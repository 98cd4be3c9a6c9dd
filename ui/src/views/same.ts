// Changing what is shown without disturbing whoever reads it.

/** renew puts a node in another's place only where they differ: focus, selection and scroll
 * stay where nothing changed. It returns the one that is in the page. */
export function renew<E extends Element>(old: E, fresh: E): E {
  if (old.isEqualNode(fresh)) return old;
  const focused = old.contains(document.activeElement) ? document.activeElement?.getAttribute('href') : null;
  old.replaceWith(fresh);
  if (focused) for (const a of fresh.querySelectorAll('a')) if (a.getAttribute('href') === focused) a.focus({ preventScroll: true });
  return fresh;
}

/** rewrite makes the rows of a table those that are given, in their order; rows that are
 * the same stay. Rows are known by data-id. */
export function rewrite(body: HTMLTableSectionElement, fresh: HTMLTableRowElement[]): void {
  const same = body.rows.length === fresh.length && fresh.every((r, i) => body.rows[i]?.dataset['id'] === r.dataset['id']);
  if (same) {
    fresh.forEach((r, i) => {
      const old = body.rows[i];
      if (old) renew(old, r);
    });
    return;
  }
  const focused = body.contains(document.activeElement) ? document.activeElement?.closest('tr')?.dataset['id'] : undefined;
  body.replaceChildren(...fresh);
  if (focused !== undefined) fresh.find((r) => r.dataset['id'] === focused)?.querySelector('a')?.focus({ preventScroll: true });
}
