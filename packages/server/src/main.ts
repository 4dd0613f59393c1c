/**
 * `npm start`: reads the configuration, starts the roles, prints the base address, stops on SIGTERM and
 * SIGINT.
 */
import { isIPv6 } from 'node:net';
import pino from 'pino';
import { isServiceKey } from './accounts/index.ts';
import type { Service } from './boot.ts';
import { ConfigError, readConfig, unknownVariables } from './config.ts';
import type { Config } from './config.ts';

const STOP_LIMIT_MS = 9_500;
/** By then the start has settled. */
const START_GARBAGE_MS = 5_000;

const HELP = `headrace: starts the service. Environment variables configure it:
  HEADRACE_HOST, HEADRACE_PORT      listening address (127.0.0.1, 4400; port 0 picks a free port)
  HEADRACE_DATA_DIR                 data folder (.headrace): embedded database and objects
  DATABASE_URL                      an external PostgreSQL, 15 or newer, instead of the embedded one
  HEADRACE_ROLES                    api,worker,runner (all)
  HEADRACE_TLS_CERT_FILE …          several machines: the certificate of the link between workers and runners
  HEADRACE_OWNER_EMAIL, HEADRACE_OWNER_PASSWORD, HEADRACE_BOOTSTRAP_KEY   only used when the database is empty
docs/guides/operations.md lists all variables.`;

const environment = process.env;

function readConfiguration(): Config {
  try {
    return readConfig(environment, isServiceKey);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}

if (process.argv.includes('--help')) {
  console.log(HELP);
  process.exit(0);
}
const config = readConfiguration();
const log = pino(
  { level: config.logLevel === 'info' ? 'warn' : config.logLevel },
  pino.destination({ fd: 2, sync: true }),
);
for (const what of unknownVariables(environment)) log.warn(what);
if (config.machines && config.roles.has('runner')) {
  try {
    const { runRunner } = await import('./start-runner.ts');
    process.exit(await runRunner(config, config.machines));
  } catch (error) {
    console.error(`headrace could not start: ${(error as Error).message}`);
    process.exit(1);
  }
}
let service: Service | undefined;
let isStopping = false;

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  // A part that does not end is left to the next start: everything accepted is in the database.
  setTimeout(() => process.exit(0), STOP_LIMIT_MS).unref();
  await service?.leave();
  await service?.stop().catch((err: unknown) => log.error({ err }, 'the service did not stop cleanly'));
  process.exit(0);
}
process.on('SIGTERM', () => void stop());
process.on('SIGINT', () => void stop());
process.on('unhandledRejection', (err) => log.error({ err }, 'a rejection was not handled'));

try {
  // Loaded here: a runner on a node needs none of it.
  const { startService } = await import('./boot.ts');
  service = await startService(config, log, {
    onFatal() {
      log.fatal('the embedded database stays down; see its log in the data folder');
      process.exit(1);
    },
    onNotices(notices) {
      for (const notice of notices) console.log(notice);
    },
  });
} catch (error) {
  console.error(`headrace could not start: ${(error as Error).message}`);
  process.exit(1);
}
// The start leaves 60 MiB behind, which a service without load would keep.
setTimeout(() => globalThis.gc?.(), START_GARBAGE_MS).unref();
if (config.metricsListen && service.metricsPort !== null) {
  const { host } = config.metricsListen;
  console.log(`Metrics: http://${isIPv6(host) ? `[${host}]` : host}:${service.metricsPort}/metrics`);
}
if (service.address) {
  if (service.notices.length === 0)
    console.log('Owner and service keys are as before: they were shown, or given, at the first start.');
  console.log(`Documentation: ${service.address}/docs`);
  if (config.consoleFolder !== null) console.log(`Console: ${service.address}/console/`);
  // Last, and alone on its line: what starts the service waits for it.
  console.log(`headrace listening on ${service.address}`);
}
