// Test of the example for Crawlee, with its queue of requests.
import assert from 'node:assert/strict';
import test from 'node:test';
import { request } from '../examples/crawlee.mjs';

const crawlee = await import('@crawlee/core').then((module) => module, () => undefined);

// Nine spellings of two pages.
export const spellings = [
  'http://h.example/', 'HTTP://H.example:80', 'https://h.example/#top', 'http://h.example/a/..', 'http://h.example/?utm_source=x',
  'http://h.example/~a?b=1&c=2', 'http://h.example/%7ea?c=2&b=1', 'http://u:p@h.example/~a?b=1&c=2', 'https://h.example/./~a?c=2&b=1#x',
];

test('spellings of a page have the same key', () => {
  assert.equal(new Set(spellings.map((url) => request(url).uniqueKey)).size, 2);
  assert.equal(request('no url').uniqueKey, 'no url');
});

test('Crawlee takes each page once', { skip: crawlee ? false : 'needs the package @crawlee/core' }, async () => {
  const list = await crawlee.RequestList.open(null, spellings.map(request));
  assert.equal(list.length(), 2);
  const plain = await crawlee.RequestList.open(null, spellings);
  assert.ok(plain.length() > 2, 'without urlfold, Crawlee takes more');
});
