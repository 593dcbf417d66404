// The URLs of the tests: the inputs of the vectors, and those of the corpora.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The checkout, also for a copy of the package that bindings/js/test has made. */
export const root = process.env.URLFOLD_ROOT ? pathToFileURL(`${process.env.URLFOLD_ROOT}/`) : new URL('../../../', import.meta.url);
const lines = (text) => text.replace(/^\ufeff/, '').split(/\r?\n/).filter(Boolean);

/**
 * Return the URLs of the vectors, without lone surrogates, which no file can have, and the
 * empty one, which is no URL for the program.
 */
export function vectors() {
  const urls = [];
  for (const name of ['rfc3986-normalize', 'rfc3986-resolve', 'rfc3986-syntax', 'url-standard', 'keys']) {
    for (const line of lines(readFileSync(new URL(`testdata/vectors/${name}.jsonl`, root), 'utf8'))) {
      const vector = JSON.parse(line);
      urls.push(...['input', 'url', 'ref', 'base'].map((member) => vector[member]).filter((url) => typeof url === 'string'));
    }
  }
  return urls.filter((url) => url && url.isWellFormed());
}

const folder = process.env.URLFOLD_CORPORA ?? '';
const read = (name) => lines(readFileSync(join(folder, name), 'utf8'));
const links = () => read('urls/archiveorg2008_refs.jsonl').map((line) => JSON.parse(line));

/** Return the pages of the corpora with their links, as pairs. */
export function pages() {
  const found = new Map();
  for (const { page, ref } of links()) {
    if (!found.has(page)) found.set(page, []);
    found.get(page).push(ref);
  }
  return [...found];
}

/** Return 100,000 URLs of the folder that URLFOLD_CORPORA names, or undefined. */
export function corpora() {
  if (!folder || !existsSync(join(folder, 'urls/kasztp.txt'))) return undefined;
  return [
    ...read('urls/kasztp.txt'),
    ...links().map(({ ref }) => ref),
    ...read('urls/opendns-top-domains.txt').map((host) => `http://${host}`),
    ...read('cdx/openwayback_test-cdx.txt').map((line) => line.split(' ')[2]),
    ...read('urls/blns.txt'),
  ];
}
