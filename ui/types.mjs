// Writes src/schema.ts, the types of the page's data, from report/page.schema.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { compile } from 'json-schema-to-typescript';

const read = (name) => JSON.parse(readFileSync(new URL(`../report/${name}`, import.meta.url), 'utf8'));
const page = read('page.schema.json');
const verdict = read('verdict.schema.json');

// One document: what the verdict's schema defines is defined here, by names that
// the types can have.
const names = { symptom: 'Symptom', entry: 'Entry', evidence: 'Evidence', coverage: 'Coverage', subject: 'Subject', interval: 'Interval', load: 'Load' };
for (const [key, title] of Object.entries(names)) verdict.$defs[key].title = title;
verdict.title = 'Verdict';
page.$defs = { ...page.$defs, ...verdict.$defs, verdict: { ...verdict, $defs: undefined, $id: undefined, $schema: undefined } };
page.properties.verdict = { $ref: '#/$defs/verdict' };
delete page.$id;

const text = await compile(page, 'Page', {
  bannerComment: '// Written by types.mjs from report/*.schema.json: make ui. Not to be edited.',
  additionalProperties: false,
  unreachableDefinitions: false,
});
writeFileSync(new URL('src/schema.ts', import.meta.url), text);
