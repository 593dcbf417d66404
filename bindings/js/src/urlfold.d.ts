/** A level of keys: how much a key ignores. `equivalent` is the default of most profiles. */
export type Level = 'syntax' | 'equivalent' | 'fetch' | 'page' | 'shape' | 'match';

/** A profile: what a normal form is. `w3lib` and others match another program. */
export type Profile =
  | 'analytics' | 'crawler' | 'equiv' | 'logclean' | 'rfc3986' | 'rfc3986-scheme' | 'whatwg'
  | (string & {});

export interface Options {
  /** The name of a profile; the default is `equiv`. */
  profile?: Profile;
  /** The level of the keys; the default is that of the profile. */
  key?: Level;
  /** The URL against which relative URLs are resolved. */
  base?: string;
}

export interface Explanation {
  /** The URL that was explained. */
  url: string;
  /** The normal form; absent if the URL cannot be parsed. */
  norm?: string;
  /** Why the URL cannot be parsed. */
  error?: string;
  /** The names of its flags. */
  flags?: string[];
  /** What else `urlfold explain --to jsonl` writes. */
  [member: string]: unknown;
}

/**
 * Start the module. Browsers need this before the first call. Node needs it only for a
 * module of its own, since it starts the module at the first call.
 */
export function load(module?: WebAssembly.Module): Promise<void>;

/** Return the normal form of a URL, or null if it cannot be parsed. */
export function normalize(url: string, options?: Options): string | null;

/** Return the key of a URL, 32 hexadecimal digits, or null if it has none. */
export function key(url: string, options?: Options): string | null;

/** Return the normal forms of URLs, with null for null and for what cannot be parsed. */
export function many(urls: readonly (string | null | undefined)[], options?: Options): (string | null)[];

/** Return the keys of URLs, with null for what has none. */
export function keys(urls: readonly (string | null | undefined)[], options?: Options): (string | null)[];

/** Return what happens to a URL, and with `vs`, at which level its key meets that of another. */
export function explain(url: string, options?: Options & { vs?: string }): Explanation;

/** Normal forms and keys with the same options. The base can be another one in each call. */
export class Normalizer {
  /** Throws a TypeError if an option is not valid. */
  constructor(options?: Options);
  normalize(url: string, options?: { base?: string }): string | null;
  key(url: string, options?: { base?: string }): string | null;
  many(urls: readonly (string | null | undefined)[], options?: { base?: string }): (string | null)[];
  keys(urls: readonly (string | null | undefined)[], options?: { base?: string }): (string | null)[];
  explain(url: string, options?: { base?: string; vs?: string }): Explanation;
}

type Filter = readonly (RegExp | string)[];

/** The options of normalize-url, with the same names and defaults. */
export interface NormalizeUrlOptions {
  defaultProtocol?: 'http' | 'https' | 'http:' | 'https:';
  customProtocols?: readonly string[];
  normalizeProtocol?: boolean;
  forceHttp?: boolean;
  forceHttps?: boolean;
  stripAuthentication?: boolean;
  stripHash?: boolean;
  stripTextFragment?: boolean;
  stripProtocol?: boolean;
  stripWWW?: boolean;
  removeQueryParameters?: Filter | boolean;
  keepQueryParameters?: Filter;
  removeTrailingSlash?: boolean;
  removeSingleSlash?: boolean;
  removeDirectoryIndex?: boolean | Filter;
  removeExplicitPort?: boolean;
  removePath?: boolean;
  sortQueryParameters?: boolean;
  emptyQueryValue?: 'preserve' | 'always' | 'never';
  transformPath?: false | ((components: string[]) => string[] | undefined);
}

/**
 * Return a URL as the package normalize-url does, but from the normal form of urlfold: it
 * decodes and rewrites no escape or parameter that could have a meaning.
 */
export function normalizeUrl(url: string, options?: NormalizeUrlOptions): string;
