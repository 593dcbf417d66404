// Opens pages in headless Chromium, at the width of a phone and of a desk, light
// and dark, and checks them with axe-core by the rules wcag2a and wcag2aa. It
// also fails if a page is wider than the window, requests anything but itself,
// shows a dialog, or has an error in a script.
//
//   node check.mjs [--keyboard] FILE…
//
// --keyboard also checks that the first stop of the Tab key is the skip link,
// and that Enter opens the first folded part.
//
// MODULES is the folder of node_modules with puppeteer-core and axe-core, CHROME
// the path of the browser, and SHOTS a folder for screenshots (default: none).

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.join(process.env.MODULES, 'x.js'));
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const files = process.argv.slice(2).filter((arg) => arg !== '--keyboard');
const keyboard = files.length < process.argv.length - 2;

const browser = await puppeteer.launch({
  executablePath: process.env.CHROME, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
let failed = 0;
for (const file of files) {
  for (const width of [390, 1440]) {
    for (const scheme of ['light', 'dark']) failed += await check(file, width, scheme);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);

// check opens one view and returns the number of problems in it.
async function check(file, width, scheme) {
  const url = pathToFileURL(file).href;
  const name = path.basename(file, '.html');
  const problems = [];
  const page = await browser.newPage();
  page.on('request', (r) => { if (r.url() !== url && !r.url().endsWith('/favicon.ico') && !r.url().startsWith('data:')) problems.push(`requests ${r.url()}`); });
  page.on('pageerror', (err) => problems.push(`script error: ${err.message}`));
  page.on('dialog', (d) => { problems.push('shows a dialog'); d.dismiss(); });
  await page.setBypassCSP(true); // for axe-core
  await page.setViewport({ width, height: 900, isMobile: width < 600 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.goto(url, { waitUntil: 'load' });
  if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, `${name}-${width}-${scheme}.png`), fullPage: true });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) problems.push(`${wide} pixels wider than the window`);
  if (keyboard) problems.push(...await keys(page));
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run({ runOnly: ['wcag2a', 'wcag2aa'] }));
  if (!result.passes.length) problems.push('axe-core checked nothing');
  for (const v of result.violations) problems.push(`${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`);
  console.log(`${name} ${width} ${scheme}: ${problems.length} problems, ${result.passes.length} rules passed`);
  for (const p of problems) console.log(`  ${p}`);
  await page.close();
  return problems.length;
}

// keys returns the problems of a page without scripts with the keyboard.
async function keys(page) {
  const problems = [];
  if (await page.$('script, img, link, iframe')) problems.push('an element that loads or runs something');
  await page.keyboard.press('Tab');
  if (await page.evaluate(() => document.activeElement.className) !== 'skip') problems.push('the first stop is not the skip link');
  if (await page.$('summary')) {
    await page.focus('summary');
    await page.keyboard.press('Enter');
    if (!(await page.$('details[open]'))) problems.push('the numbers do not open with Enter');
  }
  return problems;
}
