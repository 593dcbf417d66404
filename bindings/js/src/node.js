// The package in Node: the module is compiled at the first call.
import { readFileSync } from 'node:fs';
import { compileWith, running, start } from './engine.js';

export * from './api.js';

compileWith(() => new WebAssembly.Module(readFileSync(new URL('urlfold.wasm', import.meta.url))));

export async function load(module) {
  if (module) await start(module);
  else running();
}
