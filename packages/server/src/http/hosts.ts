import type { IncomingMessage } from 'node:http';

/**
 * Whether a request names its host twice. Node takes the first, a proxy may take the last: between them the
 * request would be for two services at once.
 */
export function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++;
  return hosts > 1;
}
