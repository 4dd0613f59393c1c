/** Which addresses a subscription may name. What a name leads to is judged when it is dialled. */
import { isIP } from 'node:net';
import { isPrivateAddress } from '@headrace/runner/addresses';
import type { Field } from '../http/errors.ts';

/** `URL` has one spelling for each host: of `0x7f.1`, `%31.0.0.1` or `[::ffff:7f00:1]` it makes the address. */
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
