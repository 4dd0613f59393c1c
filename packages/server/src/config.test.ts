import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isServiceKey, makeServiceKey } from './accounts/index.ts';
import { ConfigError, readConfig, SETTINGS, unknownVariables } from './config.ts';

const read = (env: Record<string, string | undefined>) => readConfig(env, isServiceKey);

function faultsOf(env: Record<string, string | undefined>): string[] {
  try {
    read(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).faults;
  }
  return [];
}

test('nothing set: everything in one process, on loopback, with the embedded database', () => {
  const config = read({});
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 4400,
    dataDir: resolve('.headrace'),
    databaseUrl: null,
    databaseDirectUrl: null,
    databaseConnections: 10,
    secretKey: null,
    formerSecretKeys: [],
    ownerEmail: null,
    ownerPassword: null,
    bootstrapKey: null,
    rateLimit: 600,
    rateWindowSeconds: 60,
    trustedProxies: [],
    idleTimeoutMinutes: 15,
    sandboxDriver: 'auto',
    sandboxLimits: 'best-effort',
    logLevel: 'info',
    eventRetentionSeconds: 604_800,
    cleanupGraceSeconds: 3600,
    repairBudgetSeconds: 900,
    approvalTimeoutSeconds: 3600,
    previewDomain: 'localhost',
    previewUrl: null,
    mcpAllowPrivate: false,
    s3: null,
  });
  expect([...config.roles]).toEqual(['api', 'worker', 'runner']);
});

test('an empty variable is one that is not set', () => {
  expect(
    read({
      HEADRACE_PORT: '',
      HEADRACE_ROLES: '',
      DATABASE_URL: '',
      HEADRACE_BOOTSTRAP_KEY: '',
      HEADRACE_LOG_LEVEL: '',
    }),
  ).toEqual(read({}));
});

test('what is set is taken', () => {
  const key = makeServiceKey();
  const config = read({
    HEADRACE_PORT: '0',
    HEADRACE_ROLES: 'worker, api',
    DATABASE_URL: 'postgres://localhost/x',
    HEADRACE_SECRET_KEY: 's'.repeat(32),
    HEADRACE_BOOTSTRAP_KEY: key,
    HEADRACE_RATE_LIMIT: '5',
    HEADRACE_SANDBOX_DRIVER: 'container',
    HEADRACE_S3_BUCKET: 'b',
    HEADRACE_S3_ENDPOINT: 'http://s3.test',
    HEADRACE_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
    HEADRACE_MCP_ALLOW_PRIVATE: '1',
  });
  expect(config).toMatchObject({
    port: 0,
    databaseUrl: 'postgres://localhost/x',
    bootstrapKey: key,
    rateLimit: 5,
    trustedProxies: ['10.0.0.0/8', '::1'],
    sandboxDriver: 'container',
    s3: { bucket: 'b', endpoint: 'http://s3.test', region: 'us-east-1' },
  });
  expect([...config.roles]).toEqual(['worker', 'api']);
});

test('limits of sandboxes are required wherever others can reach the service', () => {
  for (const host of ['127.0.0.1', 'localhost', '::1'])
    expect(read({ HEADRACE_HOST: host }).sandboxLimits).toBe('best-effort');
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'localhost.example.com'])
    expect(read({ HEADRACE_HOST: host }).sandboxLimits).toBe('required');
  expect(read({ HEADRACE_HOST: '0.0.0.0', HEADRACE_SANDBOX_LIMITS: 'best-effort' }).sandboxLimits).toBe(
    'best-effort',
  );
});

const WRONG = {
  HEADRACE_PORT: '65536',
  HEADRACE_ROLES: 'api,king',
  DATABASE_URL: 'mysql://admin:hidden-1@db',
  DATABASE_DIRECT_URL: 'http://admin:hidden-1@db',
  HEADRACE_DATABASE_CONNECTIONS: '1',
  HEADRACE_SECRET_KEY: 'hidden-2',
  HEADRACE_BOOTSTRAP_KEY: 'hrk_hidden-3',
  HEADRACE_OWNER_EMAIL: 'hidden-4',
  HEADRACE_OWNER_PASSWORD: 'hidden5',
  HEADRACE_RATE_LIMIT: '0',
  HEADRACE_RATE_WINDOW_SECONDS: '1.5',
  HEADRACE_TRUSTED_PROXIES: '10.0.0.1/33',
  HEADRACE_IDLE_TIMEOUT_MINUTES: '61',
  HEADRACE_SANDBOX_DRIVER: 'none',
  HEADRACE_SANDBOX_LIMITS: 'off',
  HEADRACE_LOG_LEVEL: 'loud',
  HEADRACE_EVENT_RETENTION_SECONDS: '-1',
  HEADRACE_CLEANUP_GRACE_SECONDS: 'x',
  HEADRACE_REPAIR_BUDGET_SECONDS: '901',
  HEADRACE_APPROVAL_TIMEOUT_SECONDS: '1e3',
  HEADRACE_HOST_GRACE_SECONDS: '0',
  HEADRACE_PREVIEW_DOMAIN: 'a b',
  HEADRACE_PREVIEW_URL: 'https://previews.example.com',
  HEADRACE_MCP_ALLOW_PRIVATE: 'yes',
  HEADRACE_WEBHOOK_ALLOW_PRIVATE: 'yes',
  HEADRACE_WEBHOOK_RETRY_SECONDS: '5,,300',
  HEADRACE_WEBHOOK_DISABLE_AFTER_SECONDS: '0',
  HEADRACE_AUTOMATION_MIN_INTERVAL_SECONDS: '-5',
};

test('every fault is told, all together, by name and without a value', () => {
  const faults = faultsOf(WRONG);
  expect(faults.map((fault) => fault.split(':')[0]).sort()).toEqual(Object.keys(WRONG).sort());
  const message = new ConfigError(faults).message;
  expect(message).not.toMatch(/hidden/);
  expect(message.split('\n')).toHaveLength(faults.length + 1);
});

test('the waits between the attempts of a webhook are whole numbers from 1 on, with commas', () => {
  const retries = (value?: string) => read({ HEADRACE_WEBHOOK_RETRY_SECONDS: value }).webhooks.retrySeconds;
  expect(retries()).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 36_000]);
  expect(retries('1')).toEqual([1]);
  expect(retries('1, 1,604800')).toEqual([1, 1, 604_800]);
  for (const wrong of [
    '0',
    '1,0',
    '-1',
    '1.5',
    '1e3',
    'x',
    '5,',
    ',5',
    '5;300',
    '604801',
    Array(51).fill(1).join(),
  ])
    expect(faultsOf({ HEADRACE_WEBHOOK_RETRY_SECONDS: wrong }), wrong).toEqual([
      expect.stringMatching(/^HEADRACE_WEBHOOK_RETRY_SECONDS: /),
    ]);
});

test('webhooks and automations have bounds that are whole numbers from 1 on', () => {
  expect(read({})).toMatchObject({
    webhooks: { allowPrivate: false, disableAfterSeconds: 432_000 },
    automations: { minIntervalSeconds: 300 },
  });
  expect(
    read({
      HEADRACE_WEBHOOK_ALLOW_PRIVATE: '1',
      HEADRACE_WEBHOOK_DISABLE_AFTER_SECONDS: '1',
      HEADRACE_AUTOMATION_MIN_INTERVAL_SECONDS: '1',
    }),
  ).toMatchObject({
    webhooks: { allowPrivate: true, disableAfterSeconds: 1 },
    automations: { minIntervalSeconds: 1 },
  });
  for (const name of ['HEADRACE_WEBHOOK_DISABLE_AFTER_SECONDS', 'HEADRACE_AUTOMATION_MIN_INTERVAL_SECONDS'])
    for (const wrong of ['0', '-1', '1.5', '1e3', 'x', '300s'])
      expect(faultsOf({ [name]: wrong }), `${name}=${wrong}`).toEqual([
        expect.stringMatching(new RegExp(`^${name}: `)),
      ]);
});

test('the address of previews has one label for the token, and nothing but scheme, host and port', () => {
  for (const right of ['https://*.example.com', 'http://*.localhost:8443/', 'HTTPS://app.*.Example.com'])
    expect(read({ HEADRACE_PREVIEW_URL: right }).previewUrl).toBe(right);
  for (const wrong of [
    '*.example.com',
    'ftp://*.example.com',
    'https://*',
    'https://a*.example.com',
    'https://*.*.example.com',
    'https://*.example.com/path',
    'https://*.example.com?x',
    'https://*.example.com:0',
    'https://*.example.com:65536',
    'https://user@*.example.com',
    'https://*..example.com',
    'https://*.exa_mple.com',
    'https://*.example.com\n',
  ])
    expect(faultsOf({ HEADRACE_PREVIEW_URL: wrong }), wrong).toEqual([
      expect.stringMatching(/^HEADRACE_PREVIEW_URL: /),
    ]);
});

test('proxies are addresses or networks', () => {
  for (const wrong of [
    'proxy.example',
    '10.0.0',
    '10.0.0.1/',
    '::1/129',
    '10.0.0.1/8/8',
    '10.0.0.1 10.0.0.2',
  ])
    expect(faultsOf({ HEADRACE_TRUSTED_PROXIES: wrong }), wrong).toHaveLength(1);
  expect(read({ HEADRACE_TRUSTED_PROXIES: '10.0.0.1,2001:db8::/32,' }).trustedProxies).toEqual([
    '10.0.0.1',
    '2001:db8::/32',
  ]);
});

test('an external database takes a secret key', () => {
  expect(faultsOf({ DATABASE_URL: 'postgresql://localhost/x' })).toEqual([
    'HEADRACE_SECRET_KEY: is required with DATABASE_URL',
  ]);
  expect(faultsOf({ DATABASE_URL: 'postgresql://localhost/x', HEADRACE_SECRET_KEY: 's'.repeat(31) })).toEqual(
    ['HEADRACE_SECRET_KEY: has to have at least 32 characters'],
  );
});

describe('the table of settings', () => {
  const guide = readFileSync(new URL('../../../docs/guides/operations.md', import.meta.url), 'utf8');
  const codes = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
  const rows = guide
    .split('\n')
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .filter((cells) => /^`(HEADRACE|DATABASE)_\w+`/.test(cells[1] ?? ''))
    .map((cells) => ({ names: codes(cells[1]!), defaults: cells[2]! }));

  test('has just the variables of the operations guide', () => {
    expect(rows.flatMap(({ names }) => names).toSorted()).toEqual(Object.keys(SETTINGS).toSorted());
  });

  test('gives the defaults that the guide gives', () => {
    const known = rows
      .map(({ names, defaults }) => ({
        names,
        defaults,
        table: names.map((name) => SETTINGS[name as keyof typeof SETTINGS].default),
      }))
      .filter(({ table }) => table.some((value) => value !== null));
    expect(known.map(({ names, defaults }) => [names, codes(defaults)])).toEqual(
      known.map(({ names, table }) => [names, table.filter((value) => value !== null)]),
    );
  });

  test('shows what was set, secrets as ***', () => {
    const { settings } = read({
      HEADRACE_PORT: '4400',
      HEADRACE_IDLE_TIMEOUT_MINUTES: '11',
      HEADRACE_SECRET_KEY: 'a secret of at least 32 characters',
      HEADRACE_OWNER_PASSWORD: '',
      DATABASE_URL: 'postgres://u:hidden@host/db',
    });
    const shown = new Map(settings.map(({ name, value, isDefault }) => [name, [value, isDefault]]));
    expect(shown.get('HEADRACE_PORT')).toEqual(['4400', true]);
    expect(shown.get('HEADRACE_IDLE_TIMEOUT_MINUTES')).toEqual(['11', false]);
    expect(shown.get('HEADRACE_SECRET_KEY')).toEqual(['***', false]);
    expect(shown.get('DATABASE_URL')).toEqual(['***', false]);
    expect(shown.get('HEADRACE_OWNER_PASSWORD')).toEqual([null, true]);
    expect(shown.get('HEADRACE_LOG_LEVEL')).toEqual([null, true]);
    expect(JSON.stringify(settings)).not.toMatch(/a secret of|hidden/);
  });
});

test('a variable that is mistyped is named with the one that is meant; others are left alone', () => {
  expect(
    unknownVariables({ HEADRACE_RATE_LIMT: '5', HEADRACE_DATADIR: '/d', HEADRACE_PORT: '1', PATH: '/bin' }),
  ).toEqual([
    'HEADRACE_DATADIR is not a variable of this service and is ignored; the nearest is HEADRACE_DATA_DIR',
    'HEADRACE_RATE_LIMT is not a variable of this service and is ignored; the nearest is HEADRACE_RATE_LIMIT',
  ]);
  expect(unknownVariables(Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, 'x'])))).toEqual([]);
});
