// Measures ns per URL of the package and of its peers, in one run; the size of the module;
// and the start:
//
//     URLFOLD_CORPORA=… bindings/js/test bench.mjs
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import normalizePeer from 'normalize-url';
import { keys, many, normalize, normalizeUrl } from 'urlfold';
import { corpora, pages } from './tests/inputs.mjs';

const ROUNDS = 9;
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

// each returns a function that calls f for each URL. An error is an answer.
const each = (f) => (urls, base) => urls.map((url) => {
  try {
    return f(url, base);
  } catch {
    return null;
  }
});
const href = each((url, base) => new URL(url, base).href);

// measure prints the medians of ways, each for pairs of a base and its URLs.
function measure(title, pairs, ways) {
  const size = pairs.reduce((n, [, urls]) => n + urls.length, 0);
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = -2; round < ROUNDS; round++) { // the first two warm up
    for (const [name, way] of Object.entries(ways)) {
      const start = performance.now();
      for (const [base, urls] of pairs) way(urls, base);
      if (round >= 0) times[name].push((performance.now() - start) * 1e6 / size);
    }
  }
  const unit = median(times['new URL().href']);
  console.log(`${title}: ${size} URLs`);
  for (const [name, list] of Object.entries(times)) {
    console.log(`  ${name.padEnd(16)}${Math.round(median(list)).toLocaleString('en').padStart(8)} ns${(median(list) / unit).toFixed(2).padStart(8)} × new URL().href`);
  }
}

const all = corpora();
if (!all) throw new Error('needs the folder of the corpora in URLFOLD_CORPORA');
const ways = { 'many': (urls) => many(urls), 'keys': (urls) => keys(urls), 'new URL().href': href };
measure('absolute URLs', [[undefined, all.slice(0, 48_000)]], { ...ways, normalize: each((url) => normalize(url)), normalizeUrl: each((url) => normalizeUrl(url)), 'normalize-url': each((url) => normalizePeer(url)) });
measure('links of pages, with the page as base', pages(), { many: (urls, base) => many(urls, { base }), 'new URL().href': href });
measure('all, of which two of five have no scheme', [[undefined, all]], ways);

const wasm = readFileSync(new URL('src/urlfold.wasm', import.meta.url));
const brotli = brotliCompressSync(wasm, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } });
console.log(`\nmodule: ${wasm.length} bytes, ${gzipSync(wasm, { level: 9 }).length} with gzip, ${brotli.length} with brotli`);
const program = "const t = performance.now(); const { normalize } = await import('urlfold'); normalize('http://h/'); console.log(performance.now() - t)";
const starts = Array.from({ length: 5 }, () => Number(spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: import.meta.dirname, encoding: 'utf8' }).stdout));
console.log(`start: ${Math.round(median(starts))} ms from import to the first answer`);
