// Test of the package in Chromium.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import test from 'node:test';

const puppeteer = await import('puppeteer-core').then((module) => module.default, () => undefined);
const chrome = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const types = { js: 'text/javascript', wasm: 'application/wasm' };

test('Chromium gives the same answers as Node', { skip: puppeteer && chrome ? false : 'needs the package puppeteer-core, and Chromium: apt-get install chromium' }, async () => {
  const server = createServer(({ url }, answer) => {
    const name = /^\/(\w[\w-]*\.(js|wasm))$/.exec(url);
    answer.setHeader('Content-Type', types[name?.[2]] ?? 'text/html');
    answer.end(name ? readFileSync(new URL(`../src/${name[1]}`, import.meta.url)) : '<!doctype html><title>urlfold</title>');
  }).listen(0, '127.0.0.1');
  const browser = await puppeteer.launch({ executablePath: chrome, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    const got = await page.evaluate(async () => {
      const u = await import('/browser.js');
      await u.load();
      return [u.many(['HTTP://h/%7e', null, 'http://é/😀']), u.key('http://h/'), u.normalizeUrl('www.example.com/'), u.explain('http://[').error];
    });
    const u = await import('urlfold');
    assert.deepEqual(got, [['http://h/~', null, 'http://xn--9ca/%F0%9F%98%80'], u.key('http://h/'), 'http://example.com', u.explain('http://[').error]);
  } finally {
    await browser.close();
    server.close();
  }
});
