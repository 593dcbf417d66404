// Opens a report in Chromium at two widths, light and dark, and writes what is
// wrong as a line each: violations of WCAG 2 A and AA, text that does not fit,
// requests, and parts that the keyboard does not reach.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [modules, chromium, file, shots] = process.argv.slice(2);
const require = createRequire(modules + '/');
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const url = pathToFileURL(file).href;

const browser = await puppeteer.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
let checks = 0;
for (const width of [390, 1440]) {
  for (const scheme of ['light', 'dark']) {
    const name = `${width} ${scheme}: `;
    const page = await browser.newPage();
    page.on('request', (r) => { if (r.url() !== url) console.log(name + 'requests ' + r.url()); });
    page.on('dialog', (d) => { console.log(name + 'runs a script'); d.dismiss(); });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.setViewport({ width, height: 900 });
    await page.setBypassCSP(true); // for axe only: the page itself has no scripts
    await page.goto(url);
    if (await page.$('script, img, link, iframe')) console.log(name + 'an element that loads or runs something');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) console.log(name + `${wide} pixels too wide`);
    await page.keyboard.press('Tab');
    if (await page.evaluate(() => document.activeElement.className) !== 'skip') console.log(name + 'the first stop is not the skip link');
    if (await page.$('summary')) {
      await page.focus('summary');
      await page.keyboard.press('Enter');
      if (!(await page.$('details[open]'))) console.log(name + 'the numbers do not open with Enter');
    }
    await page.evaluate(axe);
    const result = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa'] }));
    for (const v of result.violations) console.log(name + v.id + ' ' + v.nodes.map((n) => n.target.join(' ')).join('; '));
    checks += result.passes.length;
    if (shots) await page.screenshot({ path: `${shots}-${width}-${scheme}.png`, fullPage: true });
    await page.close();
  }
}
await browser.close();
console.log(`${checks} checks passed`);
