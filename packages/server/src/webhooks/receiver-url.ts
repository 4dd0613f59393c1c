/** Which URLs a subscription may have. The addresses of a name are checked at each attempt. */
import { isIP } from 'node:net';
import { isPrivateAddress } from '@headrace/runner/addresses';
import type { Field } from '../http/errors.ts';

/** `URL` normalizes the host: `0x7f.1`, `%31.0.0.1` or `[::ffff:7f00:1]` become a plain address. */
export function receiverUrlFaults(text: string | undefined, allowPrivate: boolean): Field[] {
  if (text === undefined) return [];
  const fault = (message: string) => [{ path: '/url', message }];
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' && !(allowPrivate && url?.protocol === 'http:'))
    return fault(`must be an https${allowPrivate ? ' or http' : ''} address`);
  if (/^https?:[\\/]*[^\\/?#]*@/i.test(text)) return fault('must not contain a user');
  if (text.includes('#')) return fault('must not contain a fragment');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!allowPrivate && isIP(host) !== 0 && isPrivateAddress(host))
    return fault('must not be a loopback, private, link-local or metadata address');
  return [];
}
