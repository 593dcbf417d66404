// normalizeUrl has the options of the package normalize-url. It changes the normal form of
// urlfold, whose escapes and parameters it keeps. docs/how-to/javascript.md has the
// differences.
import { running } from './engine.js';

const OPTIONS = {
  defaultProtocol: 'http',
  customProtocols: [],
  normalizeProtocol: true,
  forceHttp: false,
  forceHttps: false,
  stripAuthentication: true,
  stripHash: false,
  stripTextFragment: true,
  stripProtocol: false,
  stripWWW: true,
  removeQueryParameters: [/^utm_\w+/i],
  keepQueryParameters: undefined,
  removeTrailingSlash: true,
  removeSingleSlash: true,
  removeDirectoryIndex: false,
  removeExplicitPort: false,
  removePath: false,
  sortQueryParameters: true,
  emptyQueryValue: 'preserve',
  transformPath: false,
};

const PARTS = /^(?<scheme>[^:]*:)(?:\/\/(?:(?<userinfo>[^@/?#]*)@)?(?<host>\[[^\]]*\]|[^:/?#]*)(?<port>:\d+)?)?(?<path>[^?#]*)(?:\?(?<query>[^#]*))?(?:#(?<hash>.*))?$/su;
const DEFAULT_PORTS = { 'http:': ':80', 'https:': ':443' };
const WWW = /^www\.(?!www\.)[a-z\-\d]{1,63}\.[a-z.\-\d]{2,63}$/;

export function normalizeUrl(url, options) {
  const o = { ...OPTIONS, ...options };
  if (o.forceHttp && o.forceHttps) throw new Error('The `forceHttp` and `forceHttps` options cannot be used together');
  url = url.trim();
  if (/^data:/i.test(url)) return fetchable(url);
  const custom = customProtocol(url);
  if (custom && !o.customProtocols.some((name) => `${name.trim().toLowerCase().replace(/:$/, '')}:` === custom)) return url;

  const relativeProtocol = url.startsWith('//');
  if (!custom && (relativeProtocol || !/^\.*\//.test(url))) {
    url = url.replace(/^(?!(?:\w+:)?\/\/)|^\/\//, `${o.defaultProtocol.replace(/:$/, '')}://`);
  }
  const parts = { ...PARTS.exec(fetchable(url)).groups };
  changeAuthority(parts, o);
  changePath(parts, o);
  parts.query = changeQuery(parts.query, o);
  if (o.stripHash) parts.hash = undefined;
  else if (o.stripTextFragment) parts.hash = parts.hash?.replace(/:~:text.*$/is, '') || undefined;

  let out = written(parts, o, url);
  if (relativeProtocol && !o.normalizeProtocol) out = out.replace(/^http:\/\//, '//');
  return o.stripProtocol ? out.replace(/^(?:https?:)?\/\//, '') : out;
}

// fetchable returns the normal form of a URL, or throws an error as new URL does.
function fetchable(url) {
  const [norm] = running().convert({}, undefined, [url], false);
  if (norm === null) throw Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL', input: url });
  return norm;
}

// customProtocol returns the scheme of a URL if it is none of http, https and file. A host
// with a port is no scheme.
function customProtocol(url) {
  const scheme = /^[a-z][a-z\d+\-.]*:/i.exec(url)?.[0].toLowerCase();
  if (!scheme || /^(?:https?|file):$/.test(scheme)) return undefined;
  const authority = url.startsWith('//', scheme.length);
  if (scheme === 'localhost:' && !authority && /^\d{1,5}(?:[/?#]|$)/.test(url.slice(scheme.length))) return undefined;
  return !scheme.includes('.') || authority ? scheme : undefined;
}

function changeAuthority(parts, o) {
  if (o.forceHttp && parts.scheme === 'https:') parts.scheme = 'http:';
  if (o.forceHttps && parts.scheme === 'http:') parts.scheme = 'https:';
  if (o.removeExplicitPort || parts.port === DEFAULT_PORTS[parts.scheme]) parts.port = undefined;
  if (o.stripAuthentication) parts.userinfo = undefined;
  parts.host = parts.host?.replace(/\.$/, '');
  if (o.stripWWW && WWW.test(parts.host)) parts.host = parts.host.slice('www.'.length);
}

function changePath(parts, o) {
  if (parts.host === undefined) return; // such as mailto:
  // The slashes of a URL in the path stay.
  let path = parts.path.split(/(\b[a-z][a-z\d+\-.]{1,50}:\/\/)/).map((text, i) => i % 2 ? text : text.replace(/\/{2,}/g, '/')).join('');
  const index = o.removeDirectoryIndex === true ? [/^index\.[a-z]+$/] : o.removeDirectoryIndex || [];
  const names = path.split('/').filter(Boolean);
  if (names.length && matches(names.at(-1), index)) path = `/${names.slice(0, -1).map((name) => `${name}/`).join('')}`;
  if (o.removePath) path = '/';
  if (typeof o.transformPath === 'function') path = transformed(path, o.transformPath);
  if (o.removeTrailingSlash) path = path.replace(/\/$/, '') || '/';
  parts.path = path;
}

// transformed returns the path that a function returns for its components, as any text.
function transformed(path, transform) {
  const components = transform(path.split('/').filter(Boolean)) ?? [];
  const text = components.join('/').replace(/[?#]/g, encodeURIComponent);
  return PARTS.exec(fetchable(`http://h/${text}`)).groups.path;
}

function changeQuery(query, o) {
  const keep = o.keepQueryParameters, remove = o.removeQueryParameters;
  if (!query || keep?.length === 0 || !keep && remove === true) return undefined;
  let parameters = query.split('&').filter(Boolean).map((text) => ({ text, name: decoded(text.split('=', 1)[0]) }));
  if (keep) parameters = parameters.filter(({ name }) => matches(name, keep));
  else if (Array.isArray(remove)) parameters = parameters.filter(({ name }) => !matches(name, remove));
  if (o.sortQueryParameters) parameters.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  return parameters.map(({ text }) => emptyValue(text, o.emptyQueryValue)).join('&') || undefined;
}

function emptyValue(text, form) {
  const at = text.indexOf('=');
  if (at !== -1 && at < text.length - 1) return text;
  const name = at === -1 ? text : text.slice(0, -1);
  return form === 'always' ? `${name}=` : form === 'never' && name ? name : text;
}

function decoded(name) {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return new URLSearchParams(`${name}=`).keys().next().value ?? ''; // malformed escapes stay
  }
}

function matches(name, filters) {
  return filters.some((filter) => filter instanceof RegExp ? new RegExp(filter, filter.flags.replace(/[gy]/g, '')).test(name) : filter === name);
}

// written returns the URL of parts. url, which was given, says whether a single slash is its
// own or that of the parser.
function written({ scheme, userinfo, host, port = '', path, query, hash }, o, url) {
  const authority = host === undefined ? '' : `//${userinfo ? `${userinfo}@` : ''}${host}${port}`;
  if (path === '/' && query === undefined && hash === undefined && host !== undefined && (o.removeSingleSlash || !url.endsWith('/'))) path = '';
  return scheme + authority + path + (query === undefined ? '' : `?${query}`) + (hash === undefined ? '' : `#${hash}`);
}
