// A table's rows as the reader asked for them.
import type { Table } from '../schema';

export type Row = Table['rows'][number];

/** filtered keeps the rows in which every word of the text stands in some cell. */
export function filtered(rows: Row[], text: string): Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const all = row.map((cell) => (cell === null ? '' : String(cell).toLowerCase())).join(' ');
    return words.every((w) => all.includes(w));
  });
}

/** sorted orders rows by a column; what was not measured stands last both ways. */
export function sorted(rows: Row[], column: number, down: boolean): Row[] {
  const sign = down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const x = a[column] ?? null;
    const y = b[column] ?? null;
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    if (typeof x === 'number' && typeof y === 'number') return sign * (x - y);
    return sign * String(x).localeCompare(String(y), 'en', { numeric: true });
  });
}
