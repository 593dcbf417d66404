// The package in browsers, where the module is fetched before the first call.
import { start } from './engine.js';

export * from './api.js';

let loading;

export function load(module) {
  loading ??= (async () => start(module ?? await fetched()))().catch((error) => {
    loading = undefined; // the next call tries again
    throw error;
  });
  return loading;
}

async function fetched() {
  const answer = await fetch(new URL('urlfold.wasm', import.meta.url));
  if (!answer.ok) throw new Error(`urlfold: ${answer.url}: status ${answer.status}`);
  // Not compileStreaming, which refuses other media types than application/wasm.
  return WebAssembly.compile(await answer.arrayBuffer());
}
