// The WebAssembly module, and the calls into it.
import { scope } from './go.js';

// Lengths of values that are missing: see deploy/site/playground/packed.go.
const ABSENT = 0xffffffff;

// The values in one call, and the UTF-16 code units of their text.
const BLOCK = 4096;
const BLOCK_TEXT = 4 << 20;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

let compile; // returns the module; only Node has it
let engine; // the running module

/** Set how a module is compiled at the first call, where that need not wait. */
export function compileWith(function_) {
  compile = function_;
}

/** Return what runs a module. */
function runner() {
  const go = new scope.Go();
  // The garbage collector of Go works mainly while Go waits, so a collection that has begun does
  // not end during short calls, and its write barriers take a third of their time. With 16 MB
  // instead of 4 MB before the first one, lists of URLs begin none.
  Object.assign(go.env, { GOGC: '400' });
  return go;
}

/** Start a module that is compiled, if none runs. */
export async function start(module) {
  if (engine) return;
  const go = runner();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  engine ??= new Engine(go, instance);
}

/** Return the running module. */
export function running() {
  if (engine) return engine;
  if (!compile) throw new Error('urlfold: call "await load()" first');
  const go = runner();
  engine = new Engine(go, new WebAssembly.Instance(compile(), go.importObject));
  return engine;
}

class Engine {
  #exports;
  #converters = new Map(); // numbers of converters, by their options as JSON

  constructor(go, instance) {
    scope.urlfoldReady = () => {};
    go.exit = () => { // after a panic, whose text is in the console
      if (engine === this) engine = undefined;
    };
    go.run(instance).catch(() => {}); // the call that failed has thrown the error
    this.#exports = instance.exports;
  }

  /** Return the explanation of a URL, as an object. */
  explain(request) {
    this.#ask(JSON.stringify(request));
    const answer = JSON.parse(this.#text(this.#exports.urlfold_ask()));
    if (answer.error) throw new TypeError(`urlfold: ${answer.error}`);
    return answer.explain;
  }

  /** Return the number of a converter with options. */
  converter(options) {
    const name = JSON.stringify(options);
    let number = this.#converters.get(name);
    if (number === undefined) {
      this.#ask(name);
      number = this.#exports.urlfold_open();
      if (number < 0) throw new TypeError(`urlfold: ${this.#text(-1 - number)}`);
      this.#converters.set(name, number);
    }
    return number;
  }

  /** Return the normal forms of URLs, or their keys, with null for what has none. */
  convert(options, base, urls, keys) {
    const number = this.converter(options);
    const answers = new Array(urls.length);
    for (let start = 0; start < urls.length;) {
      const values = [base];
      let end = start, size = base?.length ?? 0;
      do {
        const url = urls[end++];
        size += url?.length ?? 0;
        values.push(url);
      } while (end < urls.length && values.length < BLOCK && size < BLOCK_TEXT);
      this.#write(values);
      this.#read(this.#exports.urlfold_convert(number, values.length, keys), answers, start, end);
      start = end;
    }
    return answers;
  }

  /** Write a block: see deploy/site/playground/packed.go. */
  #write(values) {
    let text = values.join('');
    const head = 4 * values.length;
    let memory = this.#input(head + text.length);
    let { read, written } = encoder.encodeInto(text, memory.subarray(head));
    if (read < text.length || written !== text.length) { // not ASCII
      values = values.map((value) => value?.toWellFormed()); // no pair across two values
      text = values.join('');
      memory = this.#input(head + 3 * text.length); // a code unit has at most three bytes
      written = encoder.encodeInto(text, memory.subarray(head)).written;
    }
    const lengths = new Uint32Array(memory.buffer, memory.byteOffset, values.length);
    for (let i = 0; i < values.length; i++) lengths[i] = values[i]?.length ?? ABSENT;
    this.#input(head + written);
  }

  /** Read a block into a part of answers. */
  #read(size, answers, start, end) {
    const address = this.#exports.urlfold_output() >>> 0, head = 4 * (end - start);
    const lengths = new Uint32Array(this.#exports.mem.buffer, address, end - start), text = this.#text(size - head, head);
    for (let i = start, at = 0; i < end; i++) {
      const length = lengths[i - start];
      answers[i] = length === ABSENT ? null : text.slice(at, at += length);
    }
  }

  /** Return the memory for a question of size bytes. A call can move it. */
  #input(size) {
    const address = this.#exports.urlfold_input(size) >>> 0;
    return new Uint8Array(this.#exports.mem.buffer, address, size);
  }

  #ask(text) {
    const bytes = encoder.encode(text);
    this.#input(bytes.length).set(bytes);
  }

  #text(size, from = 0) {
    return decoder.decode(new Uint8Array(this.#exports.mem.buffer, (this.#exports.urlfold_output() >>> 0) + from, size));
  }
}
