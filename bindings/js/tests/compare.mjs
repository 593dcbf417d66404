// Compares a Normalizer with the program.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
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

/** Test that no URL has another normal form or key than in the program. */
export function compareAll(where, Normalizer) {
  const compare = (t, urls, options, ...flags) => {
    const n = new Normalizer(options);
    const norms = n.many(urls), hashes = n.keys(urls);
    const want = answers(urls, ...flags);
    assert.equal(want.length, urls.length);
    const differences = urls.map((url, i) => ({ url, norm: norms[i], key: hashes[i], want: want[i] }))
      .filter(({ norm, key: hash, want: w }) => (norm ?? undefined) !== w.norm || (hash ?? undefined) !== w.key);
    t.diagnostic(`${where}, ${flags.join(' ') || 'no options'}: ${urls.length} URLs, ${differences.length} differences`);
    assert.deepEqual(differences.slice(0, 5), [], `${differences.length} of ${urls.length}`);
  };
  test(`${where}: the vectors, no difference from the program`, { skip: program ? false : 'needs a built program: set URLFOLD' }, (t) => {
    const urls = vectors();
    assert.ok(urls.length > 1000);
    for (const profile of ['equiv', 'crawler', 'analytics', 'whatwg', 'rfc3986', 'w3lib']) compare(t, urls, { profile }, '-p', profile);
    compare(t, urls, { base: 'http://h/a/b' }, '--base', 'http://h/a/b');
  });
  const real = corpora();
  test(`${where}: URLs of the corpora, no difference from the program`, { skip: real && program ? false : 'needs URLFOLD, and in URLFOLD_CORPORA the folder of the corpora' }, (t) => {
    assert.ok(real.length > 100_000);
    compare(t, real, {});
    compare(t, real, { profile: 'analytics', base: 'http://www.example.com/' }, '-p', 'analytics', '--base', 'http://www.example.com/');
  });
}
