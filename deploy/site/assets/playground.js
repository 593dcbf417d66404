// The playground: reads the form, asks the WebAssembly module, shows its answer.
// The module is loaded when a field gets the focus or, with a link, its first input.
// Nothing that is typed leaves the page:
// a link holds it in its fragment, which browsers do not send.

const $ = (id) => document.getElementById(id);
const form = $('try');
const fields = { url: $('url'), vs: $('vs'), line: $('line'), profile: $('profile'), level: $('level') };
const base = new URL('wasm/', import.meta.url);

// --- the module ----------------------------------------------------------
// There are two: explain, and line, which can also read a log line and is larger.
const modules = {};

function load(name) {
  if (!modules[name]) {
    const module = modules[name] = start(name);
    module.then(() => { module.ready = true; }, () => { delete modules[name]; }); // after an error, the next input tries again
  }
  return modules[name];
}

// needed returns the module for the chosen kind of input, url or line.
const needed = () => (form.elements.kind.value === 'line' ? 'line' : 'explain');

form.addEventListener('focusin', (e) => {
  if (Object.values(fields).includes(e.target)) load(needed()).catch(() => {}); // ask reports errors
});

async function start(name) {
  const [answer] = await Promise.all([body(name), import(new URL('wasm_exec.js', base).href)]);
  const go = new globalThis.Go();
  const module = await WebAssembly.instantiateStreaming(answer, go.importObject);
  return new Promise((resolve) => {
    globalThis.urlfoldReady = () => resolve(globalThis.urlfold);
    go.run(module.instance);
  });
}

// body returns a module as a response, decompressed here, so that the server need
// not know how.
async function body(name) {
  let coding = 'gzip';
  try {
    new DecompressionStream('brotli');
    coding = 'brotli';
  } catch { /* most browsers know gzip only */ }
  const file = new URL(`${name}.wasm.${coding === 'gzip' ? 'gz' : 'br'}`, base);
  const answer = await fetch(file);
  if (!answer.ok) throw new Error(`${file.pathname}: status ${answer.status}`);
  const bytes = await answer.blob();
  const head = new Uint8Array(await bytes.slice(0, 4).arrayBuffer());
  let stream = bytes.stream();
  if (String.fromCharCode(...head) !== '\0asm') stream = stream.pipeThrough(new DecompressionStream(coding));
  return new Response(stream, { headers: { 'Content-Type': 'application/wasm' } });
}

// --- asking --------------------------------------------------------------
let last = 0;
let began; // the time of the first input

async function ask() {
  const kind = form.elements.kind.value, name = needed();
  const given = fields[kind].value;
  share(kind);
  const now = ++last;
  if (!given) return;
  began ||= performance.now();
  let answer;
  try {
    if (!modules[name]?.ready) say('Loading…');
    const urlfold = await load(name);
    if (now !== last) return; // more was typed
    answer = JSON.parse(urlfold(JSON.stringify({
      URL: given, VS: fields.vs.value, Line: kind === 'line' ? given : '',
      Profile: fields.profile.value, Level: fields.level.value, Width: columns(),
    })));
  } catch (err) {
    say(`The playground cannot be loaded: ${err.message}`, true);
    return;
  }
  $('answer').dataset.first ||= Math.round(performance.now() - began); // milliseconds, for check.mjs
  show(kind, given, answer);
}

// columns returns how many characters fit into a line of the text.
function columns() {
  const pre = $('text'), style = getComputedStyle(pre);
  const ruler = document.createElement('span');
  ruler.textContent = '0'.repeat(100);
  ruler.className = 'ruler';
  pre.append(ruler);
  const width = ruler.getBoundingClientRect().width / 100;
  ruler.remove();
  return Math.floor((pre.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)) / width);
}

// --- showing -------------------------------------------------------------
function say(text, bad = false) {
  $('status').textContent = text;
  $('status').classList.toggle('bad', bad);
}

function element(name, properties, ...children) {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...children);
  return e;
}

function show(kind, given, a) {
  const facts = $('facts'), flags = $('flags');
  facts.replaceChildren();
  flags.replaceChildren();
  $('text').classList.toggle('wrap', kind === 'line');
  $('command').textContent = command(kind, a.line && !a.line.output);
  if (a.error) {
    say(`Error: ${a.error}`, true);
    $('text').replaceChildren();
  } else if (kind === 'line') {
    showLine(a.line);
  } else {
    $('text').innerHTML = a.html; // escaped by the module, with elements for colors
    showURL(given, a.explain);
  }
  $('flags-head').hidden = !flags.children.length;
}

function fact(name, value, note) {
  if (value === undefined || value === '') return;
  $('facts').append(element('dt', { textContent: name }), element('dd', {}, element('code', { textContent: value }), ...(note ? [' ', element('span', { className: 'note', textContent: note })] : [])));
}

function showURL(given, e) {
  const bytes = new TextEncoder().encode(given);
  if (e.error) {
    say(`This URL cannot be parsed: ${e.error}, at byte ${e.at}.`, true);
  } else if (e.vs) {
    say(e.vs.error ? `The second URL cannot be parsed: ${e.vs.error}, at byte ${e.vs.at}.`
      : e.vs.share ? `The keys are equal at level ${e.level}.` : `The keys differ at level ${e.level}${e.vs.meet ? `; they are equal from ${e.vs.meet} on` : ''}.`);
  } else {
    const n = e.diagnostics.length;
    say(`${e.norm === e.url ? 'This URL is in normal form' : 'This URL has another normal form'}, ${n ? `with ${n} ${n === 1 ? 'flag' : 'flags'}` : 'without a flag'}.`);
  }
  const two = e.vs && !e.vs.share;
  fact('Normal form', e.norm, e.vs && 'of the first');
  if (e.vs) fact('Normal form', e.vs.norm, 'of the second');
  fact(`Key, ${e.level}`, e.key, two && 'of the first');
  if (two) fact(`Key, ${e.level}`, e.vs.key, 'of the second');
  if (!e.vs) fact('Text of the key', e[e.level]);
  if (e.error) flag(fields.url, bytes, e.error, e.at, 'URL rejected');
  for (const d of e.diagnostics) flag(fields.url, bytes, d.flag, d.at, `${d.component}, ${d.action}`);
}

// flag adds an entry whose button selects the byte in the input.
function flag(input, bytes, name, at, note) {
  const button = element('button', { type: 'button', textContent: `byte ${at}` });
  button.setAttribute('aria-label', `Select byte ${at} in the input`);
  button.addEventListener('click', () => {
    const decoder = new TextDecoder();
    const start = decoder.decode(bytes.slice(0, at)).length;
    input.focus();
    input.setSelectionRange(start, start + 1);
  });
  $('flags').append(element('li', {}, button, ' ', element('code', { textContent: name }), ' ', element('span', { className: 'note', textContent: note })));
}

function showLine(l) {
  const n = l.urls.length;
  say(`Format ${l.format}, ${n === 0 ? 'no URL' : n === 1 ? '1 URL' : `${n} URLs`} found.`);
  $('text').textContent = l.output || l.urls.map((u) => JSON.stringify(u)).join('\n');
  for (const u of l.urls) {
    const again = element('button', { type: 'button', textContent: 'Explain' });
    again.setAttribute('aria-label', `Explain ${u.url}`);
    again.addEventListener('click', () => set({ url: u.url, profile: fields.profile.value }));
    $('facts').append(element('dt', {}, 'URL ', again), element('dd', {}, element('code', { textContent: u.url })));
    if (u.error) fact('cannot be parsed', u.error);
    fact('Normal form', u.norm);
    if (u.flags?.length) fact('Flags', u.flags.join(', '));
  }
}

// command returns the same question for a shell. Some formats, such as text, can only
// be listed.
function command(kind, list) {
  const quote = (s) => `'${s.replaceAll("'", "'\\''")}'`;
  const options = [];
  if (fields.profile.value !== 'equiv') options.push(`-p ${fields.profile.value}`);
  if (kind === 'line') return `printf '%s\\n' ${quote(fields.line.value)} | urlfold ${[...options, list ? '-r jsonl --fields url,norm,key,flags,error' : '--target all'].join(' ')}`;
  if (fields.level.value) options.push(`-k ${fields.level.value}`);
  if (fields.vs.value) options.push(`--vs ${quote(fields.vs.value)}`);
  return ['urlfold explain', ...options, quote(fields.url.value)].join(' ');
}

// --- links ---------------------------------------------------------------
function share(kind) {
  const parts = new URLSearchParams();
  for (const name of kind === 'line' ? ['line', 'profile'] : ['url', 'vs', 'profile', 'level']) {
    const value = fields[name].value;
    if (value && !(name === 'profile' && value === 'equiv')) parts.set(name, value);
  }
  history.replaceState(null, '', `#${parts}`);
}

// set fills the form and asks.
function set(values) {
  for (const [name, field] of Object.entries(fields)) field.value = values[name] ?? (name === 'profile' ? 'equiv' : '');
  if (!fields.profile.value) fields.profile.value = 'equiv';
  if (fields.level.selectedIndex < 0) fields.level.value = '';
  form.elements.kind.value = values.line ? 'line' : 'url';
  choose();
  ask();
}

// choose shows the fields of the chosen kind of input.
function choose() {
  form.dataset.kind = form.elements.kind.value;
}

function fromLink() {
  if (location.hash.includes('=')) set(Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
}

form.addEventListener('submit', (e) => { e.preventDefault(); ask(); });
form.addEventListener('input', (e) => {
  choose();
  if (e.target.name !== 'kind' || $('answer').dataset.first) ask();
});
for (const button of document.querySelectorAll('[data-example]')) {
  button.addEventListener('click', () => set(JSON.parse(button.dataset.example)));
}
for (const button of document.querySelectorAll('[data-copy]')) {
  button.addEventListener('click', async () => {
    const label = button.textContent;
    await navigator.clipboard.writeText(button.dataset.copy === 'link' ? location.href : $('command').textContent);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = label; }, 1500);
  });
}
let resized;
addEventListener('resize', () => {
  clearTimeout(resized);
  resized = setTimeout(() => { if ($('answer').dataset.first) ask(); }, 200);
});
addEventListener('hashchange', fromLink);
choose();
fromLink();
