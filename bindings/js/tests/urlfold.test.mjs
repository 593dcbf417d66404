// Tests of the package: node --test. $URLFOLD names the program with which it is compared.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { explain, key, keys, load, many, normalize, Normalizer } from 'urlfold';
import { compareAll } from './compare.mjs';

const program = process.env.URLFOLD;

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

test('load again changes nothing', () => load());

compareAll('Node', Normalizer);

test('the types name the profiles of the program', { skip: program ? false : 'needs a built program: set URLFOLD' }, () => {
  const text = readFileSync(new URL('../src/urlfold.d.ts', import.meta.url), 'utf8');
  const list = /export type Profile =([^;]*);/.exec(text)[1].match(/'[^']+'/g).map((name) => name.slice(1, -1));
  const done = spawnSync(program, ['help', 'profiles', '--to', 'jsonl'], { encoding: 'utf8' });
  const profiles = done.stdout.trim().split('\n').map((line) => JSON.parse(line));
  for (const name of list) assert.ok(profiles.some(({ profile }) => profile?.replace(' (default)', '') === name), name);
});
