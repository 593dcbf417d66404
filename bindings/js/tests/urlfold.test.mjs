// Tests of the package: node --test. $URLFOLD names the program with which it is compared.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { explain, key, keys, load, many, normalize, Normalizer } from 'urlfold';
import { corpora, vectors } from './inputs.mjs';

const program = process.env.URLFOLD;

// answers returns the normal forms and the keys that the program gives.
function answers(urls, ...options) {
  const rows = urls.map((u) => `${JSON.stringify({ u })}\n`).join('');
  const args = ['--lock-step', '-f', 'jsonl', '--url-field', 'u', '-r', 'jsonl', '--fields', 'norm,key', ...options];
  const done = spawnSync(program, args, { input: rows, encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
}

// compare fails if a URL has another normal form or key than in the program.
function compare(urls, options, ...flags) {
  const n = new Normalizer(options);
  const norms = n.many(urls), hashes = n.keys(urls);
  const want = answers(urls, ...flags);
  assert.equal(want.length, urls.length);
  const differences = urls.map((url, i) => ({ url, norm: norms[i], key: hashes[i], want: want[i] }))
    .filter(({ norm, key: hash, want: w }) => (norm ?? undefined) !== w.norm || (hash ?? undefined) !== w.key);
  assert.deepEqual(differences.slice(0, 5), [], `${differences.length} of ${urls.length}`);
}

test('values', () => {
  const urls = ['HTTP://H', null, '', 'no url', 'http://h/a\tb\n\r\\c', undefined, 'http://é/😀'];
  assert.deepEqual(many(urls), ['http://h/', null, null, null, 'http://h/ab/c', null, 'http://xn--9ca/%F0%9F%98%80']);
  assert.deepEqual(many(urls), urls.map((url) => typeof url === 'string' ? normalize(url) : null));
  assert.deepEqual(keys(['http://h/', null, 'no url']), [key('HTTP://H'), null, null]);
  assert.deepEqual(many([]), []);
  assert.match(key('http://h/'), /^[0-9a-f]{32}$/);
  assert.equal(key('http://example.com/', { profile: 'analytics' }), key('https://www.example.com', { key: 'page' }));
  assert.notEqual(key('http://h/'), key('http://h/', { key: 'fetch' }));
});

test('a lone surrogate is a replacement character, and does not join its neighbour', () => {
  assert.deepEqual(many(['http://h/\ud83d', '\ude00', 'http://h/\ude00'], { base: 'http://b/' }), ['http://h/%EF%BF%BD', 'http://b/%EF%BF%BD', 'http://h/%EF%BF%BD']);
});

test('a base for each call', () => {
  const links = ['../c', '//x/', '#top', '?q'];
  for (const base of ['http://h/a/b/', 'https://é/']) assert.deepEqual(many(links, { base }), links.map((link) => new URL(link, base).href));
  assert.equal(new Normalizer({ base: 'http://h/a' }).normalize('b'), 'http://h/b');
  assert.equal(new Normalizer({ base: 'http://h/a' }).normalize('b', { base: 'http://g/' }), 'http://g/b');
});

test('many blocks, and URLs that are longer than a block', () => {
  const urls = Array.from({ length: 40_000 }, (_, i) => `HTTP://H/%7e${i}`);
  assert.deepEqual(many(urls), urls.map((_, i) => `http://h/~${i}`));
  const long = `http://h/${'a'.repeat(5 << 20)}`;
  assert.deepEqual(many(['HTTP://H', long, 'http://h/%7e']), ['http://h/', null, 'http://h/~']);
});

test('errors', () => {
  assert.throws(() => normalize('http://h/', { profile: 'no-such-profile' }), /TypeError.*no-such-profile/);
  assert.throws(() => new Normalizer({ key: 'k9' }), /k9/);
  assert.throws(() => explain('http://h/', { key: 'k9' }), /k9/);
  assert.equal(normalize('HTTP://H'), 'http://h/');
});

test('explanations', () => {
  assert.deepEqual(explain('HTTP://Example.com/%7e').flags, ['lower-hex', 'needless-escape']);
  assert.equal(explain('http://a b/').error, 'host-invalid');
  assert.equal(explain('http://h/#a', { vs: 'http://h/' }).vs.share, false);
  assert.equal(explain('../c', { base: 'http://h/a/b/' }).norm, 'http://h/a/c');
});

test('the module leaves no global names', () => {
  assert.deepEqual(Object.keys(globalThis).filter((name) => /^(Go|fs|path|urlfold)/.test(name)), []);
});

test('the entry for browsers needs load', async () => {
  // Other instances of the modules than those of Node.
  const source = new URL('../src/', import.meta.url);
  const run = `
    const u = await import('${new URL('browser.js', source)}');
    try { u.normalize('http://h'); } catch (error) { console.log(error.message); }
    globalThis.fetch = async (url) => new Response((await import('node:fs')).readFileSync(url));
    await Promise.all([u.load(), u.load()]);
    console.log(u.normalize('HTTP://H'));`;
  const done = spawnSync(process.execPath, ['--input-type=module', '-e', run], { encoding: 'utf8' });
  assert.equal(done.stdout, 'urlfold: call "await load()" first\nhttp://h/\n', done.stderr);
  await load(); // again, which changes nothing
});

test('the vectors: no difference from the program', { skip: program ? false : 'needs a built program: set URLFOLD' }, () => {
  const urls = vectors();
  assert.ok(urls.length > 1000);
  for (const profile of ['equiv', 'crawler', 'analytics', 'whatwg', 'rfc3986', 'w3lib']) compare(urls, { profile }, '-p', profile);
  compare(urls, { base: 'http://h/a/b' }, '--base', 'http://h/a/b');
});

const real = corpora();
test('URLs of the corpora: no difference from the program', { skip: real && program ? false : 'needs URLFOLD, and in URLFOLD_CORPORA the folder of the corpora' }, () => {
  assert.ok(real.length > 100_000);
  compare(real, {});
  compare(real, { profile: 'analytics', base: 'http://www.example.com/' }, '-p', 'analytics', '--base', 'http://www.example.com/');
});

test('the types name the profiles of the program', { skip: program ? false : 'needs a built program: set URLFOLD' }, () => {
  const text = readFileSync(new URL('../src/urlfold.d.ts', import.meta.url), 'utf8');
  const list = /export type Profile =([^;]*);/.exec(text)[1].match(/'[^']+'/g).map((name) => name.slice(1, -1));
  const done = spawnSync(program, ['help', 'profiles', '--to', 'jsonl'], { encoding: 'utf8' });
  const profiles = done.stdout.trim().split('\n').map((line) => JSON.parse(line));
  for (const name of list) assert.ok(profiles.some(({ profile }) => profile?.replace(' (default)', '') === name), name);
});
