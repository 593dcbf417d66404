// Checks the built site in headless Chromium: deploy/site/check.mjs FOLDER, where
// FOLDER is that of one version. It opens pages at the widths of a phone, a tablet
// and a desk, light and dark, and fails if a page is wider than the window, requests
// anything from another server, has an error in a script, or violates a rule of
// axe-core. It uses the playground and the search as a person does, and asks the
// WebAssembly module every vector of testdata/vectors.
//
// MODULES is the folder of node_modules with puppeteer-core and axe-core, CHROME the
// path of the browser, and SHOTS a folder for screenshots (default: none).

import { createRequire } from 'node:module';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';

const require = createRequire(path.join(process.env.MODULES, 'x.js'));
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const vectors = path.join(import.meta.dirname, '../../testdata/vectors');
const folder = path.resolve(process.argv[2]);
const most = 300_000; // bytes of the first page without the WebAssembly module
const kinds = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json' };

// The server has the version at a path, as a real one does, and the same files as
// another version.
const version = path.basename(folder);
const server = createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, 'http://h').pathname);
  if (name === '/versions.json') return response.end(JSON.stringify(['99.9', version]));
  let file = path.join(path.dirname(folder), name.replace('/99.9/', `/${version}/`));
  if (file.endsWith('/')) file += 'index.html';
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return response.writeHead(404).end();
  const coded = file.endsWith('.br') ? { 'Content-Encoding': 'br' } : {}; // as some servers do
  response.writeHead(200, { 'Content-Type': kinds[path.extname(file)] || 'application/octet-stream', ...coded });
  return createReadStream(file).pipe(response);
});
await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
const origin = `http://127.0.0.1:${server.address().port}`;
const root = `${origin}/${version}/`;
const browser = await puppeteer.launch({ executablePath: process.env.CHROME, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });

let failed = 0;
function report(name, problems) {
  console.log(`${name}: ${problems.length} problems`);
  for (const p of problems) console.log(`  ${p}`);
  failed += problems.length;
}

// open returns a page and the list that its problems are added to.
async function open(address, width, scheme, brotli) {
  const page = await browser.newPage();
  if (brotli !== undefined) await page.evaluateOnNewDocument(knowsBrotli, brotli);
  const problems = [];
  page.requests = [];
  page.on('request', (r) => {
    page.requests.push(r.url().replace(/#.*/, '')); // a browser does not send the fragment
    if (!r.url().startsWith(`${origin}/`) && !r.url().startsWith('data:')) problems.push(`requests ${r.url()}`);
  });
  const answers = [];
  page.on('response', (r) => answers.push(r.buffer().then((b) => b.length, () => 0)));
  page.on('pageerror', (err) => problems.push(`script error: ${err.message}`));
  page.on('console', (m) => { if (m.type() === 'error' && !/404/.test(m.text())) problems.push(`console: ${m.text()}`); });
  await page.setViewport({ width, height: 900, isMobile: width < 600 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  const first = await page.goto(root + address, { waitUntil: 'networkidle0' });
  if (!first.ok()) problems.push(`status ${first.status()}`);
  page.bytes = (await Promise.all(answers)).reduce((a, b) => a + b, 0);
  return [page, problems];
}

// inspect adds what is wrong with the state of a page, and saves a screenshot.
async function inspect(page, problems, name, full = true) {
  if (full) await page.evaluate(() => window.scrollTo(0, 0));
  if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, `${name}.png`), fullPage: full });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) problems.push(`${wide} pixels wider than the window`);
  const hidden = await page.evaluate(() => [...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.src));
  for (const src of hidden) problems.push(`broken image ${src}`);
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  if (!result.passes.length) problems.push('axe-core checked nothing');
  for (const v of result.violations) problems.push(`${v.id}: ${v.nodes.slice(0, 4).map((n) => n.target.join(' ')).join(', ')}`);
}

const views = [390, 768, 1440].flatMap((width) => ['light', 'dark'].map((scheme) => [width, scheme]));

async function look(name, address) {
  for (const [width, scheme] of views) {
    const [page, problems] = await open(address, width, scheme);
    await inspect(page, problems, `${name}-${width}-${scheme}`);
    if (name === 'home') {
      if (page.bytes > most) problems.push(`${page.bytes} bytes, more than ${most}`);
      if (page.requests.some((r) => r.includes('wasm'))) problems.push('loads WebAssembly before the first input');
      if (width === 390 && scheme === 'light') console.log(`first page: ${page.bytes} bytes in ${page.requests.length} requests, without compression`);
    }
    report(`${name} ${width} ${scheme}`, problems);
    await page.close();
  }
}

// status waits until the status of the playground matches a pattern.
const status = (page, pattern) => page.waitForFunction((p) => new RegExp(p).test(document.getElementById('status').textContent), { timeout: 30_000 }, pattern);

// knowsBrotli makes a browser say that a script can decompress brotli, or that it
// cannot. In both cases it cannot, but the server decodes the file.
function knowsBrotli(knows) {
  const Stream = globalThis.DecompressionStream;
  globalThis.DecompressionStream = function DecompressionStream(coding) {
    if (coding === 'gzip') return new Stream(coding);
    if (!knows) throw new TypeError(coding);
    return {};
  };
}

// play uses the playground with the keyboard only.
async function play(width, scheme) {
  const brotli = scheme === 'dark';
  const [page, problems] = await open('', width, scheme, brotli);
  await page.keyboard.press('Tab');
  if (await page.evaluate(() => document.activeElement.className) !== 'skip') problems.push('the first stop of Tab is not the skip link');
  await page.focus('#url');
  await new Promise((resolve) => setTimeout(resolve, 500)); // about as long as a person takes to the first key
  await page.keyboard.down('Control');
  await page.keyboard.press('a');
  await page.keyboard.up('Control');
  await page.keyboard.type('http://exa mple.com/');
  await status(page, 'cannot be parsed: .* at byte 10');
  const took = await page.evaluate(() => document.getElementById('answer').dataset.first);
  await page.focus('#flags button');
  await page.keyboard.press('Enter');
  const selected = await page.evaluate(() => { const u = document.getElementById('url'); return [document.activeElement.id, u.selectionStart, u.selectionEnd].join(); });
  if (selected !== 'url,10,11') problems.push(`the button of an error selects ${selected}`);
  await inspect(page, problems, `play-error-${width}-${scheme}`);
  await page.goto(`${root}#url=${encodeURIComponent('http://h/ä%zz')}&vs=${encodeURIComponent('HTTP://h:80/ä%zz#<img src=x onerror=alert(1)>')}&profile=crawler`);
  await page.reload({ waitUntil: 'networkidle0' });
  await status(page, 'are equal at level fetch');
  if (await page.$('#text img')) problems.push('the input of a link becomes an element');
  await inspect(page, problems, `play-vs-${width}-${scheme}`);
  await page.evaluate(() => document.querySelector('[data-example*="line"]').click());
  await status(page, 'Format combined, 2 URLs');
  const output = await page.$eval('#text', (e) => e.textContent);
  if (!output.includes('"GET /a/caf%C3%A9~?q=100%&x=%2F HTTP/1.1"')) problems.push(`the log line becomes ${output}`);
  await inspect(page, problems, `play-line-${width}-${scheme}`);
  const link = await page.evaluate(() => location.hash);
  if (!new URLSearchParams(link.slice(1)).get('line')?.includes('%7e')) problems.push(`the link has no log line: ${link}`);
  if (page.requests.some((r) => /exa|onerror|%zz|%25zz/.test(r))) problems.push('input is part of a request');
  const loaded = page.requests.filter((r) => /wasm\.(br|gz)$/.test(r)).map((r) => path.basename(new URL(r).pathname));
  const want = ['explain.wasm', 'line.wasm'].map((name) => `${name}.${brotli ? 'br' : 'gz'}`);
  if (!want.every((name) => loaded.includes(name)) || !loaded.every((name) => want.includes(name))) problems.push(`loads ${loaded}, want ${want}`);
  report(`playground ${width} ${scheme}, ${loaded[0]}, first answer ${took} ms after the first key, 500 ms after the focus`, problems);
  await page.close();
}

async function find(width, scheme) {
  const [page, problems] = await open('docs/how-to/install/', width, scheme);
  await page.keyboard.press('/');
  await page.waitForSelector('#search[open]');
  await page.keyboard.type('dead letter');
  await page.waitForSelector('#search-results a');
  await inspect(page, problems, `search-${width}-${scheme}`, false);
  const first = await page.$eval('#search-results a', (a) => a.href);
  const answer = await page.evaluate(async (href) => (await fetch(href)).status, first);
  if (answer !== 200 || !first.includes('/docs/')) problems.push(`the first result is ${first}, status ${answer}`);
  await page.keyboard.press('Escape');
  await Promise.all([page.waitForNavigation(), page.select('#version', '99.9')]);
  if (page.url() !== `${origin}/99.9/docs/how-to/install/`) problems.push(`the other version is at ${page.url()}`);
  report(`search and versions ${width} ${scheme}`, problems);
  await page.close();
}

// ask sends every vector to the module in the page.
async function ask() {
  const [page, problems] = await open(`#url=${encodeURIComponent('http://h/')}`, 1440, 'light');
  await status(page, 'normal form');
  const read = (name) => readFileSync(path.join(vectors, name), 'utf8').trim().split('\n').map((l) => JSON.parse(l));
  const questions = [];
  for (const v of read('url-standard.jsonl')) {
    if (v.encoding) continue; // queries of pages in a legacy encoding, which the playground does not offer
    questions.push([{ URL: v.input, Base: v.base || '', Profile: 'whatwg' }, v.failure ? { failed: true, at: v.at || 0 } : { norm: v.href, syntax: v.k0, equivalent: v.k1 }]);
  }
  for (const v of read('keys.jsonl')) {
    // Not policies of a test, bytes that are not text, and keys by the other standard
    // than that of the profile: the page offers none of these.
    if (v.options || v.url === undefined || v.group === 'other standard') continue;
    const profile = v.profile || { whatwg: 'whatwg', rfc3986: 'rfc3986-scheme' }[v.standard];
    questions.push([{ URL: v.url, Base: v.base || '', Profile: profile },
      v.error ? { error: v.error } : { syntax: v.k0.text, equivalent: v.k1.text, fetch: v.k2.text, page: v.k3.text, shape: v.surface.text }]);
  }
  const bad = await page.evaluate((all) => all.flatMap(([question, want]) => {
    const e = JSON.parse(globalThis.urlfold(JSON.stringify({ ...question, Width: 80 }))).explain;
    if (want.failed) e.failed = Boolean(e.error);
    const got = Object.fromEntries(Object.keys(want).map((k) => [k, e[k]]));
    return JSON.stringify(got) === JSON.stringify(want) ? [] : [`${JSON.stringify(question)}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`];
  }), questions);
  if (questions.length < 2900) problems.push(`only ${questions.length} vectors`);
  report(`${questions.length} vectors, ${bad.length} differences`, [...problems, ...bad.slice(0, 20)]);
  await page.close();
}

const only = process.argv.slice(3);
const steps = {
  home: () => look('home', ''),
  pages: async () => {
    for (const [name, address] of [['documents', 'docs/'], ['guide', 'docs/guide/first-log/'], ['config', 'docs/reference/config/'], ['performance', 'docs/performance/'], ['section', 'docs/how-to/']]) await look(name, address);
  },
  play: async () => { for (const [width, scheme] of [[390, 'light'], [1440, 'light'], [1440, 'dark']]) await play(width, scheme); },
  search: async () => { for (const [width, scheme] of [[390, 'dark'], [1440, 'light']]) await find(width, scheme); },
  vectors: ask,
};
for (const [name, step] of Object.entries(steps)) if (!only.length || only.includes(name)) await step();
await browser.close();
server.close();
console.log(failed ? `${failed} problems` : 'no problem');
process.exit(failed ? 1 : 0);
