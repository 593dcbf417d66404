// Opens pages in headless Chromium, at the width of a phone and of a desk, light
// and dark, and checks them with axe-core by the rules wcag2a and wcag2aa. It
// also fails if a page is wider than the window, or if it requests anything but
// itself.
//
//   npm install --no-save puppeteer-core axe-core
//   node check.mjs FOLDER URL…     writes a screenshot of each view to FOLDER
//
// CHROME is the path of the browser (default: /usr/bin/chromium), and MODULES
// the folder of node_modules (default: that of the working directory).

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const require = createRequire(path.join(process.env.MODULES ?? process.cwd(), 'x.js'));
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const [folder, ...pages] = process.argv.slice(2);
if (!pages.length) {
  console.error('usage: node check.mjs FOLDER URL…');
  process.exit(2);
}

const browser = await puppeteer.launch({
  executablePath: process.env.CHROME ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'],
});
let failed = 0;
for (const [number, url] of pages.entries()) {
  for (const width of [390, 1440]) {
    for (const scheme of ['light', 'dark']) {
      failed += await check(url, width, scheme, path.join(folder, `page${number + 1}-${width}-${scheme}.png`));
    }
  }
}
await browser.close();
process.exit(failed ? 1 : 0);

// check opens one view and returns the number of problems in it.
async function check(url, width, scheme, picture) {
  const page = await browser.newPage();
  await page.setBypassCSP(true); // for axe-core
  await page.setViewport({ width, height: 900, isMobile: width < 600 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  const problems = [];
  page.on('request', (r) => { if (r.url() !== url && !r.url().endsWith('/favicon.ico') && !r.url().startsWith('data:')) problems.push(`requests ${r.url()}`); });
  page.on('pageerror', (err) => problems.push(`script error: ${err.message}`));
  await page.goto(url, { waitUntil: 'load' });
  await page.screenshot({ path: picture, fullPage: true });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) problems.push(`${wide} pixels wider than the window`);
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run({ runOnly: ['wcag2a', 'wcag2aa'] }));
  for (const v of result.violations) problems.push(`${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`);
  console.log(`${url} ${width} ${scheme}: ${problems.length} problems, ${result.passes.length} rules passed, ${picture}`);
  for (const p of problems) console.log(`  ${p}`);
  await page.close();
  return problems.length;
}
