// Requests of Crawlee whose spellings of a page are fetched once.
import { key } from 'urlfold';

/** Return a URL as a request with the key of the level fetch. It ignores http and https. */
export function request(url) {
  return { url, uniqueKey: key(url, { key: 'fetch' }) ?? url };
}
