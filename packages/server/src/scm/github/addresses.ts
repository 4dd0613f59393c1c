/** Where GitHub is: its API, and the host of its pages and its git. */
import { isPrivateHost } from '@headrace/runner/addresses';

export const GITHUB_COM = 'https://api.github.com';

/**
 * What is wrong with a `baseUrl`, for a person; null where it may be used. A name is judged by its addresses
 * when it is connected to.
 */
export function baseUrlFault(baseUrl: string, allowPrivate: boolean): string | null {
  const url = URL.parse(baseUrl);
  if (!url || !/^https?:$/.test(url.protocol)) return 'has to be an https address';
  if (url.username + url.password !== '' || /[?#]/.test(baseUrl))
    return 'has to be without user, query and fragment';
  if (allowPrivate) return null;
  if (url.protocol === 'http:') return 'has to be an https address';
  return isPrivateHost(url.hostname) ? 'has to be at a public address' : null;
}

/** One spelling for each address: repositories are known by it. */
export const plainBaseUrl = (baseUrl: string): string => new URL(baseUrl).href.replace(/\/+$/, '');

/** The pages and the git of an API: of github.com and ghe.com next to it, of an Enterprise Server the same. */
export function siteOf(baseUrl: string): string {
  const url = new URL(baseUrl);
  const host = isCloud(baseUrl) ? url.host.replace(/^api\./, '') : url.host;
  return `${url.protocol}//${host}`;
}

/** GitHub's own service asks for a pace; an Enterprise Server has the limits that its operator sets. */
export const isCloud = (baseUrl: string): boolean =>
  /^api\.(github\.com|[a-z0-9-]+\.ghe\.com)$/.test(new URL(baseUrl).hostname);
