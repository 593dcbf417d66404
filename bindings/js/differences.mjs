// Prints where normalizeUrl differs from the package normalize-url, as the table of
// docs/how-to/javascript.md, and in how many URLs of the corpora it does:
//
//     bindings/js/test differences.mjs
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { normalizeUrl } from 'urlfold';
import { corpora } from './tests/inputs.mjs';

/** A URL of each kind of difference, and why urlfold differs. */
export const cases = [
  ['http://h.example/a%2fb', 'the digits of an escape are in upper case'],
  ['http://h.example/%22%5B%7C', 'only escapes of characters that need no escape are decoded'],
  ['http://h.example/?a=b%20c', 'a space stays as it is written'],
  ['http://h.example/?a+b', 'a `+` in a parameter without a value stays as it is written'],
  ['http://h.example/?a=%e4', 'an encoding that is not UTF-8 stays'],
  ['http://h.example/?a=%0A', 'a line feed is not lost'],
  ['http://h.example/?a=b/', 'a slash at the end of a value is a part of it'],
  ['http://h.example/%%30%30', 'an escape is decoded, unless that makes another escape'],
  ['\u0661\u0662\u0663', 'a host that breaks the Bidi rule is an error'],
  ['data:TEXT/plain;charset=us-ascii,a', 'a `data:` URL is only parsed'],
];

/** Return the rows of the table, without those where both are equal. */
export function rows(peer) {
  const show = (f, url) => {
    try {
      return `\`${f(url)}\``.replaceAll('|', '\\|');
    } catch (error) {
      return `throws: ${error.message}`;
    }
  };
  return cases.map(([url, why]) => [`\`${url}\``, show(normalizeUrl, url), show(peer, url), why])
    .filter(([, ours, theirs]) => ours !== theirs)
    .map((cells) => `| ${cells.join(' | ')} |`);
}

function count(peer, urls) {
  const f = (g, url) => {
    try {
      return g(url);
    } catch {
      return null;
    }
  };
  const different = urls.filter((url) => f(normalizeUrl, url) !== f(peer, url));
  console.log(`\n${urls.length} URLs of the corpora: ${different.length} differ`);
  if (process.argv.includes('--list')) for (const url of different) console.log(JSON.stringify([url, f(normalizeUrl, url), f(peer, url)]));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { default: peer } = await import('normalize-url');
  console.log('| URL | urlfold | normalize-url | why |\n|---|---|---|---|');
  console.log(rows(peer).join('\n'));
  const urls = corpora();
  if (urls) count(peer, urls);
}
