// The link to an opened stream.

/** Opened is what a link says: which stream is opened, which beside it, moved by how much. */
export interface Opened {
  id: string;
  beside: string;
  by: number;
}

const head = '#stream=';

export function toHash(o: Opened): string {
  let out = head + encodeURIComponent(o.id);
  if (o.beside !== '') out += `&beside=${encodeURIComponent(o.beside)}`;
  if (o.by !== 0) out += `&by=${o.by}`;
  return out;
}

/** fromHash reads such a link; null is none. */
export function fromHash(hash: string): Opened | null {
  if (!hash.startsWith(head)) return null;
  const [id = '', ...rest] = hash.slice(head.length).split('&');
  const out: Opened = { id: decoded(id), beside: '', by: 0 };
  for (const part of rest) {
    const [name, v = ''] = part.split('=', 2);
    if (name === 'beside') out.beside = decoded(v);
    if (name === 'by' && Number.isFinite(Number(v))) out.by = Number(v);
  }
  return out;
}

/** decoded is a part of a link as text. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a link that somebody cut off
  }
}
