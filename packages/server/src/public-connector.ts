import { isIP } from 'node:net';
import { isPrivateAddress, PrivateAddressError, publicLookup } from '@headrace/runner/addresses';
import { buildConnector } from 'undici';

/**
 * Connects to the open internet only. An address in place of a name is never looked up, so it is judged
 * here.
 */
export function publicConnector(timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout, lookup: publicLookup() });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) && isPrivateAddress(host)) return callback(new PrivateAddressError(), null);
    connect(options, callback);
  };
}
