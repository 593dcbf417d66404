// Checked by tsc --noEmit; it does not run.
import { explain, key, keys, load, many, normalize, normalizeUrl, Normalizer, type Explanation, type Options } from 'urlfold';

const options: Options = { profile: 'analytics', key: 'page', base: 'http://h/' };
const norm: string | null = normalize('http://h/', options);
const norms: (string | null)[] = many(['http://h/', null, undefined] as const, { base: 'http://h/' });
const hashes: (string | null)[] = keys(norms);
const n = new Normalizer({ profile: 'w3lib' });
const e: Explanation = n.explain('http://h/', { vs: 'http://g/' });
const flags: string[] | undefined = explain('http://h/').flags;
const text: string = normalizeUrl('h', { removeQueryParameters: [/^a/, 'b'], transformPath: (c) => c.slice(1) });
await load();
// @ts-expect-error: no such level
key('http://h/', { key: 'pages' });
// @ts-expect-error: a number is no URL
many([1]);
// @ts-expect-error: it can be null
norm.length;
export { e, flags, hashes, text };
