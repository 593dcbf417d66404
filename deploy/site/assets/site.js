// What every page does: search, the list of versions, and buttons that copy.

const root = new URL('.', import.meta.url); // this file is in the folder of the version
const version = document.querySelector('script[data-version]').dataset.version;

// --- versions ------------------------------------------------------------
// versions.json lists all versions beside this one. A copy of one version alone
// has no such file.
const select = document.getElementById('version');
fetch(new URL('../versions.json', root)).then((r) => (r.ok ? r.json() : [])).then((versions) => {
  if (!versions.includes(version)) return;
  select.replaceChildren(...versions.map((v) => new Option(v, v, false, v === version)));
}).catch(() => {});
select.addEventListener('change', async () => {
  const other = new URL(`../${select.value}/`, root);
  const same = new URL(location.pathname.slice(root.pathname.length), other);
  const exists = await fetch(same, { method: 'HEAD' }).then((r) => r.ok, () => false);
  location.assign(exists ? same : other);
});

// --- search --------------------------------------------------------------
const dialog = document.getElementById('search');
const text = document.getElementById('search-text');
const status = document.getElementById('search-status');
const results = document.getElementById('search-results');
let pagefind; // loaded when the dialog opens for the first time

function open() {
  dialog.showModal();
  text.select();
  pagefind ||= import(new URL('pagefind/pagefind.js', root).href);
}

document.getElementById('search-open').addEventListener('click', open);
document.addEventListener('keydown', (e) => {
  const typing = e.target.closest('input, textarea, select');
  if (e.key === '/' && !typing && !e.ctrlKey && !e.metaKey && !e.altKey && !dialog.open) {
    e.preventDefault();
    open();
  }
});
dialog.addEventListener('click', (e) => { if (e.target === dialog) dialog.close(); });

text.addEventListener('input', async () => {
  const asked = text.value.trim();
  if (!asked) {
    status.textContent = '';
    results.replaceChildren();
    return;
  }
  let found;
  try {
    found = await (await pagefind).debouncedSearch(asked, {}, 120);
  } catch {
    status.textContent = 'The search index cannot be loaded.';
    return;
  }
  if (!found) return; // more was typed
  const pages = await Promise.all(found.results.slice(0, 10).map((r) => r.data()));
  if (text.value.trim() !== asked) return;
  status.textContent = found.results.length ? `${found.results.length} pages` : 'No page found.';
  results.replaceChildren(...pages.map(item));
});

// item returns a result: a link to the section that fits best, and its text.
function item(page) {
  const best = page.sub_results.toSorted((a, b) => b.locations.length - a.locations.length)[0] || page;
  const link = Object.assign(document.createElement('a'), { href: best.url });
  link.textContent = best.title && best.title !== page.meta.title ? `${page.meta.title}: ${best.title.replace(/ #$/, '')}` : page.meta.title;
  const excerpt = document.createElement('p');
  excerpt.innerHTML = best.excerpt; // Pagefind escapes the text and adds <mark>
  const li = document.createElement('li');
  li.append(link, excerpt);
  return li;
}

// --- copy ----------------------------------------------------------------
// A copy of a console session has the commands only, without the prompts.
function copied(pre) {
  const lines = pre.textContent.trimEnd().split('\n');
  const commands = [];
  for (let i = 0; i < lines.length; i++) {
    if (!lines[i].startsWith('$ ')) continue;
    commands.push(lines[i].slice(2));
    while (lines[i].endsWith('\\') && i + 1 < lines.length) commands.push(lines[++i]);
  }
  return (commands.length ? commands : lines).join('\n') + '\n';
}

if (navigator.clipboard) {
  for (const box of document.querySelectorAll('.code')) {
    const button = Object.assign(document.createElement('button'), { type: 'button', className: 'copy', textContent: 'Copy' });
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(copied(box.querySelector('pre')));
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    box.append(button);
  }
}
