// The functions of the package, which are the same in Node and in browsers.
import { running } from './engine.js';

export { normalizeUrl } from './normalize-url.js';

/** Normal forms and keys with one profile. */
export class Normalizer {
  #options;
  #base;

  constructor({ profile, key, base } = {}) {
    this.#options = { Profile: profile, Level: key };
    this.#base = base;
    running().converter(this.#options); // throws if an option is not valid
  }

  normalize(url, { base = this.#base } = {}) {
    return running().convert(this.#options, base, [url], false)[0];
  }

  key(url, { base = this.#base } = {}) {
    return running().convert(this.#options, base, [url], true)[0];
  }

  many(urls, { base = this.#base } = {}) {
    return running().convert(this.#options, base, urls, false);
  }

  keys(urls, { base = this.#base } = {}) {
    return running().convert(this.#options, base, urls, true);
  }

  explain(url, { base = this.#base, vs } = {}) {
    return running().explain({ ...this.#options, URL: url, Base: base, VS: vs });
  }
}

const normalizers = new Map(); // by profile and level

// of returns the Normalizer for options. The base is not part of it, since a crawler has
// another one for each page.
function of({ profile = '', key = '' } = {}) {
  const name = `${profile} ${key}`;
  let normalizer = normalizers.get(name);
  if (!normalizer) normalizers.set(name, normalizer = new Normalizer({ profile, key }));
  return normalizer;
}

export const normalize = (url, options) => of(options).normalize(url, options);
export const key = (url, options) => of(options).key(url, options);
export const many = (urls, options) => of(options).many(urls, options);
export const keys = (urls, options) => of(options).keys(urls, options);
export const explain = (url, options) => of(options).explain(url, options);
