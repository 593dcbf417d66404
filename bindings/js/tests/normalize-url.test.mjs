// Tests of normalizeUrl: against normalize-url where it is installed, and what the page of
// the documents says about their differences.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { normalizeUrl } from 'urlfold';
import { cases, rows } from '../differences.mjs';
import { root } from './inputs.mjs';

const peer = await import('normalize-url').then((module) => module.default, () => undefined);
const skip = peer ? false : 'needs the package normalize-url';

// result returns what a function returns for a URL, or "error".
function result(f, url, options) {
  try {
    return f(url, options);
  } catch {
    return 'error';
  }
}

test('the options of normalize-url', () => {
  const f = (url, options, want) => assert.equal(normalizeUrl(url, options), want);
  f(' //WWW.Example.com:80/../baz?b=bar&a=foo&utm_source=x ', {}, 'http://example.com/baz?a=foo&b=bar');
  f('http://h/%2fa%7e?x=%41+b%20c', {}, 'http://h/%2Fa~?x=A+b%20c');
  f('http://u:p@h/a', { stripAuthentication: false }, 'http://u:p@h/a');
  f('http://h:443/a', { forceHttps: true }, 'https://h/a');
  f('http://h/a?b&c=&d=1', { emptyQueryValue: 'always' }, 'http://h/a?b=&c=&d=1');
  f('http://h/a?b&c=&d=1', { emptyQueryValue: 'never' }, 'http://h/a?b&c&d=1');
  f('http://h/a/index.html', { removeDirectoryIndex: true }, 'http://h/a');
  f('http://h/a/b', { transformPath: (names) => [...names, 'c d'] }, 'http://h/a/b/c%20d');
  f('http://h/?a=1&b=2', { keepQueryParameters: ['b'] }, 'http://h/?b=2');
  f('h.example', { defaultProtocol: 'https', stripProtocol: true }, 'h.example');
  assert.throws(() => normalizeUrl('http://['), { name: 'TypeError', code: 'ERR_INVALID_URL' });
  assert.throws(() => normalizeUrl('/a'), { code: 'ERR_INVALID_URL' });
  assert.throws(() => normalizeUrl('h', { forceHttp: true, forceHttps: true }), /cannot be used together/);
});

test('what is the same as in normalize-url', { skip }, () => {
  const urls = [
    'example.com', '//example.com/', 'HTTP://www.Example.com:80/a/', 'https://example.com:443/', 'http://example.com:8080/a//b///c',
    'http://example.com/?b=2&a=1&a=0', 'http://example.com/?', 'http://example.com/#', 'http://example.com/a/#b', 'http://example.com/#:~:text=x',
    'http://user:pass@example.com./a', 'http://example.com/index.html', 'http://example.com/a?utm_source=x&ref=1', 'http://www.www.example.com', 'http://www.com',
    'http://example.com/a?b=&c&d=1', 'http://example.com/https://www.example.org//a', 'mailto:a@b', 'sindre://www.sorhus.com/a/', 'file:///a//b/', 'localhost:9802', 'localhost:9802/a',
    'http://é.example/ü?ü=ü', 'http://[::1]/a', 'http://0x7f.1/', 'http://[', '/a', '', 'http://', 'http://example.com/a/../../b', 'http://example.com/?&&a=1&',
  ];
  const names = {
    defaultProtocol: 'https', normalizeProtocol: false, forceHttp: true, forceHttps: true, stripAuthentication: false, stripHash: true, stripTextFragment: false,
    stripProtocol: true, stripWWW: false, removeQueryParameters: [['a'], [/^[ab]$/g], true, false], keepQueryParameters: [['a'], []], removeTrailingSlash: false,
    removeSingleSlash: false, removeDirectoryIndex: [true, ['a', /^c/y]], removeExplicitPort: true, removePath: true, sortQueryParameters: false,
    emptyQueryValue: ['always', 'never'], transformPath: [(components) => components.slice(1)], customProtocols: [['sindre']],
  };
  const settings = [{}];
  for (const [name, values] of Object.entries(names)) for (const value of [values].flat(Array.isArray(values) ? 1 : 0)) settings.push({ [name]: value });
  const differences = settings.flatMap((options) => urls.map((url) => ({ url, options, got: result(normalizeUrl, url, options), want: result(peer, url, options) })))
    .filter(({ got, want }) => got !== want);
  assert.deepEqual(differences, []);
});

test('the page has the differences', { skip }, () => {
  assert.ok(cases.length > 5);
  const page = readFileSync(new URL('docs/how-to/javascript.md', root), 'utf8');
  for (const row of rows(peer)) assert.ok(page.includes(row), `docs/how-to/javascript.md lacks the row: bindings/js/test differences.mjs\n${row}`);
});
