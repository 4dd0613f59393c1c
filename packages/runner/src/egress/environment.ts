import { EGRESS_PORT } from '../protocol.ts';

const PROXY = `http://127.0.0.1:${EGRESS_PORT}`;
/** Hosts inside the sandbox, such as the model gateway, are reached without the proxy. */
const DIRECT = '127.0.0.1,localhost,::1';

/**
 * Points programs in a sandbox to the egress proxy. curl, git, npm, pnpm, pip, cargo, go and gem read the
 * first ones, some in capitals and some not; Node's fetch reads them once a variable says so; Yarn has its
 * own variables (and has none for exceptions).
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
