import { EGRESS_PORT } from '../protocol.ts';

const PROXY = `http://127.0.0.1:${EGRESS_PORT}`;
/** What is inside of the sandbox, the model gateway among it, is reached without the proxy. */
const DIRECT = '127.0.0.1,localhost,::1';

/**
 * What tells programs in a sandbox of the egress proxy. curl, git, npm, pnpm, pip, cargo, go and gem read
 * the first ones, some in capitals and some not; Node's fetch does once it is told to; Yarn has variables
 * of its own (and refuses one for exceptions).
 */
export const EGRESS_ENV: Record<string, string> = {
  HTTPS_PROXY: PROXY,
  https_proxy: PROXY,
  HTTP_PROXY: PROXY,
  http_proxy: PROXY,
  NO_PROXY: DIRECT,
  no_proxy: DIRECT,
  NODE_USE_ENV_PROXY: '1',
  YARN_HTTPS_PROXY: PROXY,
  YARN_HTTP_PROXY: PROXY,
};
