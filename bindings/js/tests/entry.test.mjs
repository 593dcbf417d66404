// Tests of the entry for browsers, in a process where no other entry has started the module.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { load, normalize, Normalizer } from '../src/browser.js';
import { compareAll } from './compare.mjs';

assert.throws(() => normalize('http://h'), /call "await load\(\)" first/);
globalThis.fetch = async (url) => new Response(readFileSync(url));
await Promise.all([load(), load()]);

test('the entry for browsers answers after load', () => assert.equal(normalize('HTTP://H'), 'http://h/'));

compareAll('browser', Normalizer);
