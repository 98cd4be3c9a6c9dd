// What paper has room for.

/** shared gives each table its rows of a sheet: all of those of short tables, of long ones the same number each. */
export function shared(rows: number[], sheet: number): number[] {
  const out = rows.map(() => 0);
  let left = sheet;
  const order = rows.map((_n, i) => i).sort((a, b) => (rows[a] ?? 0) - (rows[b] ?? 0));
  order.forEach((i, done) => {
    out[i] = Math.min(rows[i] ?? 0, Math.floor(left / (order.length - done)));
    left -= out[i] ?? 0;
  });
  return out;
}
