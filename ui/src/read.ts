// The page's data, as report/page wrote it into this very file.
import type { Page } from './schema';

export function read(doc: Document): Page {
  const text = doc.getElementById('data')?.textContent;
  if (!text) throw new Error('this file holds no data: write it again with snag report');
  const page = JSON.parse(text) as Page;
  if (page.version !== 1) throw new Error(`this page's data are of version ${page.version}, its script of 1`);
  return page;
}
