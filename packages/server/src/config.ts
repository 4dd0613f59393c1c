/**
 * The only file that reads the environment. All faults are reported together, by name and without values
 * that may be secret.
 */
import { isIP } from 'node:net';
import { availableParallelism, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { closest } from 'fastest-levenshtein';
import { CAPABILITIES } from './http/capabilities.ts';
import { readConfigFile } from './config-file.ts';
import type { FileConfig } from './config-file.ts';
import { machinesOf, MACHINES_SETTINGS } from './machines-config.ts';
import type { MachinesConfig } from './machines-config.ts';
import { withImported } from './runtimes-config.ts';
import type { ScmFileConfig } from './scm-config.ts';
import { withSecretFiles } from './secret-files.ts';

/** Of this very checkout: a console of another version would not fit. */
const CONSOLE_FOLDER = join(import.meta.dirname, '../../console/dist');

export type Role = 'api' | 'worker' | 'runner';

/**
 * Every variable that is read, with its default: null where there is none, or the start works it out. What
 * is secret is never shown.
 */
export const SETTINGS = {
  HEADRACE_HOST: { default: '127.0.0.1' },
  HEADRACE_PORT: { default: '4400' },
  HEADRACE_DATA_DIR: { default: '.headrace' },
  HEADRACE_CONFIG_FILE: { default: null },
  DATABASE_URL: { default: null, secret: true },
  DATABASE_URL_FILE: { default: null },
  DATABASE_DIRECT_URL: { default: null, secret: true },
  DATABASE_DIRECT_URL_FILE: { default: null },
  HEADRACE_DATABASE_CONNECTIONS: { default: '10' },
  HEADRACE_ROLES: { default: 'api,worker,runner' },
  HEADRACE_SECRET_KEY: { default: null, secret: true },
  HEADRACE_SECRET_KEY_FILE: { default: null },
  HEADRACE_FORMER_SECRET_KEYS: { default: null, secret: true },
  HEADRACE_FORMER_SECRET_KEYS_FILE: { default: null },
  HEADRACE_OWNER_EMAIL: { default: null },
  HEADRACE_OWNER_PASSWORD: { default: null, secret: true },
  HEADRACE_OWNER_PASSWORD_FILE: { default: null },
  HEADRACE_BOOTSTRAP_KEY: { default: null, secret: true },
  HEADRACE_BOOTSTRAP_KEY_FILE: { default: null },
  HEADRACE_RATE_LIMIT: { default: '600' },
  HEADRACE_RATE_WINDOW_SECONDS: { default: '60' },
  HEADRACE_TRUSTED_PROXIES: { default: null },
  HEADRACE_ADDRESS_CONNECTIONS: { default: '5000' },
  HEADRACE_IDLE_TIMEOUT_MINUTES: { default: '15' },
  HEADRACE_SANDBOX_DRIVER: { default: 'auto' },
  HEADRACE_CONTAINER_SOCKET: { default: null },
  HEADRACE_CONTAINER_IMAGE: { default: null },
  HEADRACE_CONTAINER_RUNTIME: { default: null },
  HEADRACE_SANDBOX_LIMITS: { default: null },
  HEADRACE_RUNNER_DIR: { default: null },
  HEADRACE_RUN_CONCURRENCY: { default: null },
  HEADRACE_BUILD_CONCURRENCY: { default: null },
  HEADRACE_ORG_RUNS: { default: null },
  HEADRACE_ORG_BUILDS: { default: null },
  HEADRACE_ORG_EXECS: { default: null },
  HEADRACE_ORG_PREVIEWS: { default: null },
  HEADRACE_ORG_STREAMS: { default: null },
  HEADRACE_ORG_WORKSPACE_BYTES: { default: null },
  HEADRACE_PREVIEW_DOMAIN: { default: 'localhost' },
  HEADRACE_PREVIEW_URL: { default: null },
  HEADRACE_S3_BUCKET: { default: null },
  HEADRACE_S3_ENDPOINT: { default: null },
  HEADRACE_S3_REGION: { default: 'us-east-1' },
  HEADRACE_LOG_LEVEL: { default: 'info' },
  HEADRACE_METRICS_LISTEN: { default: null },
  HEADRACE_EVENT_RETENTION_SECONDS: { default: '604800' },
  HEADRACE_CLEANUP_GRACE_SECONDS: { default: '3600' },
  HEADRACE_REPAIR_BUDGET_SECONDS: { default: '900' },
  HEADRACE_APPROVAL_TIMEOUT_SECONDS: { default: '3600' },
  HEADRACE_HOST_GRACE_SECONDS: { default: '600' },
  HEADRACE_MCP_ALLOW_PRIVATE: { default: '0' },
  HEADRACE_CONSOLE: { default: '1' },
  HEADRACE_PUBLIC_URL: { default: null },
  HEADRACE_DISABLED: { default: null },
  HEADRACE_SCM_POLL_SECONDS: { default: '60' },
  HEADRACE_SCM_ALLOW_PRIVATE: { default: '0' },
  HEADRACE_REVIEW_CHECK_GRACE_SECONDS: { default: '60' },
  HEADRACE_REVIEW_CHECK_TIMEOUT_SECONDS: { default: '3600' },
  HEADRACE_WEBHOOK_ALLOW_PRIVATE: { default: '0' },
  HEADRACE_WEBHOOK_RETRY_SECONDS: { default: '5,300,1800,7200,18000,36000,36000' },
  HEADRACE_WEBHOOK_DISABLE_AFTER_SECONDS: { default: '432000' },
  HEADRACE_AUTOMATION_MIN_INTERVAL_SECONDS: { default: '300' },
  HEADRACE_GIT_MAX_PUSH_BYTES: { default: '536870912' },
  HEADRACE_REPOSITORY_MAX_FILES: { default: '50000' },
  HEADRACE_REPOSITORY_MAX_BYTES: { default: '268435456' },
  HEADRACE_REPOSITORY_MAX_FILE_BYTES: { default: '33554432' },
  ...MACHINES_SETTINGS,
} as const satisfies Record<string, { default: string | null; secret?: true }>;

type SettingName = keyof typeof SETTINGS;
/** Variables whose default is a text of the table. */
type Defaulted = {
  [N in SettingName]: (typeof SETTINGS)[N]['default'] extends string ? N : never;
}[SettingName];

/** A variable as an operator reads it: `value` null where it is not set, `***` where it is secret. */
export interface ShownSetting {
  name: string;
  value: string | null;
  isDefault: boolean;
}

export interface Config extends Omit<FileConfig, 'scm'> {
  /** What was set, as an operator may read it. */
  settings: ShownSetting[];
  host: string;
  port: number;
  dataDir: string;
  /** Null: the embedded database. */
  databaseUrl: string | null;
  /** The same database without a pool before it; null: `databaseUrl` leads there. */
  databaseDirectUrl: string | null;
  /** The most connections of the process's pool. */
  databaseConnections: number;
  roles: ReadonlySet<Role>;
  secretKey: string | null;
  /** Keys that `secretKey` replaced, the newest first. */
  formerSecretKeys: string[];
  ownerEmail: string | null;
  ownerPassword: string | null;
  bootstrapKey: string | null;
  rateLimit: number;
  rateWindowSeconds: number;
  /** Addresses or networks (CIDR) whose X-Forwarded-For is believed. */
  trustedProxies: string[];
  /** Connections of one address, unless it is a trusted proxy or this machine. */
  addressConnections: number;
  idleTimeoutMinutes: number;
  sandboxDriver: 'auto' | 'bubblewrap' | 'container';
  sandboxLimits: 'required' | 'best-effort';
  /** Where the runner's workspaces lie; null: it chooses. */
  runnerDir: string | null;
  /**
   * Unix socket of the container engine, image and OCI runtime of its sandboxes; null: found, none, the
   * engine's own.
   */
  container: { socket: string | null; image: string | null; runtime: string | null };
  logLevel: string;
  /** Where Prometheus reads metrics; null: nothing is measured. */
  metricsListen: { host: string; port: number } | null;
  eventRetentionSeconds: number;
  cleanupGraceSeconds: number;
  repairBudgetSeconds: number;
  approvalTimeoutSeconds: number;
  hostGraceSeconds: number;
  previewDomain: string;
  /** Where a proxy serves previews: `https://*.example.com`, whose `*` is a preview's token. Null: none does. */
  previewUrl: string | null;
  /** Where the built console is; null: none is served. */
  consoleFolder: string | null;
  /** MCP servers may have loopback and private addresses. */
  mcpAllowPrivate: boolean;
  /** S3 bucket and endpoint; the data folder holds the objects when there is none. */
  s3: { bucket: string; endpoint: string | null; region: string } | null;
  runConcurrency: number;
  buildConcurrency: number;
  /** Where clients reach the API, without a last slash; null: the listening address. */
  publicUrl: string | null;
  /** Names of capabilities that the deployment switches off. */
  disabled: string[];
  scm: ScmFileConfig & {
    pollSeconds: number;
    /** Providers may have loopback and private addresses, and speak http. */
    allowPrivate: boolean;
    maxPushBytes: number;
  };
  /** How long a review loop waits for the first check of a head, and for all of them. */
  reviewLoop: { graceSeconds: number; timeoutSeconds: number };
  webhooks: {
    /** Allows receivers with loopback and private addresses, and http. */
    allowPrivate: boolean;
    /** The delays between attempts; n delays mean n + 1 attempts. */
    retrySeconds: number[];
    /** How long every attempt must fail before a subscription is disabled. */
    disableAfterSeconds: number;
  };
  /** The minimum interval between two times of a schedule. */
  automations: { minIntervalSeconds: number };
  /** What a source of a repository may have; a bundle has limits of its own. */
  repositoryLimits: { files: number; bytes: number; fileBytes: number };
  /** What each organization may have at once; null: no bound. */
  organizationBounds: OrganizationBounds;
  /** Runners on nodes of their own; null: one machine, whose worker starts its runner. */
  machines: MachinesConfig | null;
}

export interface OrganizationBounds {
  runs: number | null;
  builds: number | null;
  execs: number | null;
  previews: number | null;
  /** Event streams and long polls, of one process. */
  streams: number | null;
  /** What its workspaces take at all runners together. */
  workspaceBytes: number | null;
}

export class ConfigError extends Error {
  readonly faults: string[];
  constructor(faults: string[]) {
    super(`The configuration is wrong:\n${faults.map((f) => `  ${f}`).join('\n')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** Scheme, host and port alone, with one label of the host that is `*`. */
function isPreviewUrl(text: string): boolean {
  const [, host, port] = /^https?:\/\/([^/:]+)(?::(\d{1,5}))?\/?$/i.exec(text) ?? [];
  const labels = host?.split('.') ?? [];
  return (
    labels.length > 1 &&
    labels.filter((label) => label === '*').length === 1 &&
    labels.every((label) => label === '*' || /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label)) &&
    host!.length <= 200 &&
    URL.canParse(text.replace('*', 'a')) &&
    Number(port ?? 1) > 0
  );
}

function isNetwork(text: string): boolean {
  const [address, bits, ...rest] = text.split('/');
  const family = isIP(address!);
  return (
    family !== 0 &&
    rest.length === 0 &&
    (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)))
  );
}

/**
 * An agent at work takes about 256 MiB, and mostly waits: what bounds runs is memory (a control group's,
 * where it has a limit), not cores.
 */
const runsByMemory = () =>
  Math.max(
    8,
    Math.min(
      64,
      Math.floor(Math.min(totalmem(), process.constrainedMemory() || Infinity) / (256 * 1024 * 1024)),
    ),
  );

type Env = Record<string, string | undefined>;

/** An empty variable is one that is not set. */
const textOf = (env: Env, name: string) => env[name] || null;

function shownSettings(env: Env): ShownSetting[] {
  return Object.entries(SETTINGS).map(([name, setting]) => {
    const value = textOf(env, name);
    return {
      name,
      value: value !== null && 'secret' in setting ? '***' : value,
      isDefault: value === null || value === setting.default,
    };
  });
}

/** What is wrong with variables that look like the service's and are not: each with the nearest that is. */
export function unknownVariables(env: Env): string[] {
  const known = Object.keys(SETTINGS);
  return Object.keys(env)
    .filter((name) => name.startsWith('HEADRACE_') && !known.includes(name))
    .sort()
    .map(
      (name) =>
        `${name} is not a variable of this service and is ignored; the nearest is ${closest(name, known)}`,
    );
}

/** Reads variables, and gathers what is wrong with them. */
class Variables {
  readonly faults: string[] = [];
  #env: Env;

  constructor(env: Env) {
    this.#env = env;
  }

  /** Takes the secrets that `<name>_FILE` names. */
  readSecretFiles(): void {
    const { env, faults } = withSecretFiles(this.#env);
    this.#env = env;
    this.faults.push(...faults);
  }

  text(name: SettingName): string | null {
    return textOf(this.#env, name);
  }

  textOrDefault(name: Defaulted): string {
    return this.text(name) ?? SETTINGS[name].default;
  }

  list(name: SettingName): string[] {
    return (this.text(name) ?? '')
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean);
  }

  require(isRight: boolean, fault: string): void {
    if (!isRight) this.faults.push(fault);
  }

  whole(name: Defaulted, min: number, max: number): number {
    return this.wholeOr(name, Number(SETTINGS[name].default), min, max);
  }

  wholeOr(name: SettingName, fallback: number, min: number, max: number): number {
    const value = this.text(name);
    if (value === null) return fallback;
    if (/^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max) return Number(value);
    this.faults.push(`${name}: has to be a whole number from ${min} to ${max}`);
    return fallback;
  }

  /** A whole number from 1; null where it is not set. */
  bound(name: SettingName, max = 1_000_000): number | null {
    return this.text(name) === null ? null : this.wholeOr(name, 1, 1, max);
  }

  oneOf<T extends string>(name: SettingName, fallback: T, values: readonly T[]): T {
    const value = this.text(name);
    if (value === null) return fallback;
    if ((values as readonly string[]).includes(value)) return value as T;
    this.faults.push(`${name}: has to be one of ${values.join(', ')}`);
    return fallback;
  }
}

function rolesOf(v: Variables): Set<Role> {
  const roles = v
    .textOrDefault('HEADRACE_ROLES')
    .split(',')
    .map((r) => r.trim())
    .filter(Boolean) as Role[];
  v.require(
    roles.length > 0 && roles.every((r) => ['api', 'worker', 'runner'].includes(r)),
    'HEADRACE_ROLES: has to be a comma-separated list of api, worker, runner',
  );
  return new Set(roles);
}

function databaseOf(v: Variables): Pick<Config, 'databaseUrl' | 'databaseDirectUrl' | 'databaseConnections'> {
  const urlOf = (name: 'DATABASE_URL' | 'DATABASE_DIRECT_URL') => {
    const url = v.text(name);
    v.require(
      url === null || /^postgres(ql)?:\/\//.test(url),
      `${name}: has to begin with postgres:// or postgresql://`,
    );
    return url;
  };
  const [databaseUrl, databaseDirectUrl] = [urlOf('DATABASE_URL'), urlOf('DATABASE_DIRECT_URL')];
  v.require(
    databaseDirectUrl === null || databaseUrl !== null,
    'DATABASE_DIRECT_URL: is only used with DATABASE_URL',
  );
  return {
    databaseUrl,
    databaseDirectUrl,
    databaseConnections: v.whole('HEADRACE_DATABASE_CONNECTIONS', 2, 1000),
  };
}

function secretsOf(v: Variables, databaseUrl: string | null): Pick<Config, 'secretKey' | 'formerSecretKeys'> {
  const secretKey = v.text('HEADRACE_SECRET_KEY');
  v.require(
    secretKey === null || secretKey.length >= 32,
    'HEADRACE_SECRET_KEY: has to have at least 32 characters',
  );
  v.require(secretKey !== null || databaseUrl === null, 'HEADRACE_SECRET_KEY: is required with DATABASE_URL');
  const formerSecretKeys = (v.text('HEADRACE_FORMER_SECRET_KEYS') ?? '').split(',').filter(Boolean);
  v.require(
    formerSecretKeys.every((key) => key.length >= 32),
    'HEADRACE_FORMER_SECRET_KEYS: has to be a comma-separated list of keys of at least 32 characters',
  );
  return { secretKey, formerSecretKeys };
}

function firstStartOf(
  v: Variables,
  isBootstrapKey: (key: string) => boolean,
): Pick<Config, 'bootstrapKey' | 'ownerEmail' | 'ownerPassword'> {
  const bootstrapKey = v.text('HEADRACE_BOOTSTRAP_KEY');
  v.require(
    bootstrapKey === null || isBootstrapKey(bootstrapKey),
    'HEADRACE_BOOTSTRAP_KEY: is not a service key; make one with `headrace keys generate`',
  );
  const ownerEmail = v.text('HEADRACE_OWNER_EMAIL');
  v.require(
    ownerEmail === null || /^[^\s@]+@[^\s@]+$/.test(ownerEmail),
    'HEADRACE_OWNER_EMAIL: is not an e-mail address',
  );
  const ownerPassword = v.text('HEADRACE_OWNER_PASSWORD');
  v.require(
    ownerPassword === null || [...ownerPassword].length >= 8,
    'HEADRACE_OWNER_PASSWORD: has to have at least 8 characters',
  );
  return { bootstrapKey, ownerEmail, ownerPassword };
}

function listenerOf(
  v: Variables,
): Pick<
  Config,
  | 'host'
  | 'port'
  | 'trustedProxies'
  | 'addressConnections'
  | 'previewDomain'
  | 'previewUrl'
  | 'consoleFolder'
  | 'mcpAllowPrivate'
> {
  const previewDomain = v.textOrDefault('HEADRACE_PREVIEW_DOMAIN');
  v.require(/^[a-z0-9.-]{1,200}$/i.test(previewDomain), 'HEADRACE_PREVIEW_DOMAIN: is not a host name');
  const previewUrl = v.text('HEADRACE_PREVIEW_URL');
  v.require(
    previewUrl === null || isPreviewUrl(previewUrl),
    'HEADRACE_PREVIEW_URL: has to be an address with `*` as one whole label, as https://*.example.com',
  );
  const trustedProxies = v.list('HEADRACE_TRUSTED_PROXIES');
  v.require(
    trustedProxies.every(isNetwork),
    'HEADRACE_TRUSTED_PROXIES: has to be a comma-separated list of addresses or networks, as 10.0.0.0/8',
  );
  return {
    host: v.textOrDefault('HEADRACE_HOST'),
    port: v.whole('HEADRACE_PORT', 0, 65_535),
    trustedProxies,
    addressConnections: v.whole('HEADRACE_ADDRESS_CONNECTIONS', 1, 1_000_000),
    previewDomain,
    previewUrl,
    consoleFolder:
      v.oneOf('HEADRACE_CONSOLE', SETTINGS.HEADRACE_CONSOLE.default, ['0', '1'] as const) === '1'
        ? CONSOLE_FOLDER
        : null,
    mcpAllowPrivate:
      v.oneOf('HEADRACE_MCP_ALLOW_PRIVATE', SETTINGS.HEADRACE_MCP_ALLOW_PRIVATE.default, [
        '0',
        '1',
      ] as const) === '1',
  };
}

function isPublicUrl(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === '' &&
    !text.includes('?') &&
    !text.includes('#')
  );
}

function sourceControlOf(
  v: Variables,
  file: ScmFileConfig,
): Pick<Config, 'publicUrl' | 'disabled' | 'scm' | 'repositoryLimits' | 'reviewLoop'> {
  const publicUrl = v.text('HEADRACE_PUBLIC_URL');
  v.require(
    publicUrl === null || isPublicUrl(publicUrl),
    'HEADRACE_PUBLIC_URL: has to be an http or https address without user, query and fragment',
  );
  const disabled = v.list('HEADRACE_DISABLED');
  const unknown = disabled.filter((name) => !(CAPABILITIES as readonly string[]).includes(name));
  v.require(
    unknown.length === 0,
    `HEADRACE_DISABLED: there is no capability ${unknown.join(', ')}; there are: ${CAPABILITIES.join(', ')}`,
  );
  const MOST = 999_999_999_999_999;
  return {
    publicUrl: publicUrl?.replace(/\/+$/, '') ?? null,
    disabled,
    scm: {
      ...file,
      pollSeconds: v.whole('HEADRACE_SCM_POLL_SECONDS', 1, 86_400),
      allowPrivate:
        v.oneOf('HEADRACE_SCM_ALLOW_PRIVATE', SETTINGS.HEADRACE_SCM_ALLOW_PRIVATE.default, [
          '0',
          '1',
        ] as const) === '1',
      maxPushBytes: v.whole('HEADRACE_GIT_MAX_PUSH_BYTES', 1, MOST),
    },
    reviewLoop: {
      graceSeconds: v.whole('HEADRACE_REVIEW_CHECK_GRACE_SECONDS', 1, 86_400),
      timeoutSeconds: v.whole('HEADRACE_REVIEW_CHECK_TIMEOUT_SECONDS', 1, 604_800),
    },
    repositoryLimits: {
      files: v.whole('HEADRACE_REPOSITORY_MAX_FILES', 1, MOST),
      bytes: v.whole('HEADRACE_REPOSITORY_MAX_BYTES', 1, MOST),
      fileBytes: v.whole('HEADRACE_REPOSITORY_MAX_FILE_BYTES', 1, MOST),
    },
  };
}

const MOST_RETRIES = 50;

function eventReadersOf(v: Variables): Pick<Config, 'webhooks' | 'automations'> {
  const retries = v.textOrDefault('HEADRACE_WEBHOOK_RETRY_SECONDS').split(',');
  v.require(
    retries.length <= MOST_RETRIES &&
      retries.every((one) => /^\s*\d{1,6}\s*$/.test(one) && Number(one) >= 1 && Number(one) <= 604_800),
    `HEADRACE_WEBHOOK_RETRY_SECONDS: has to be whole numbers from 1 to 604800 with commas, at most ${MOST_RETRIES}`,
  );
  return {
    webhooks: {
      allowPrivate:
        v.oneOf('HEADRACE_WEBHOOK_ALLOW_PRIVATE', SETTINGS.HEADRACE_WEBHOOK_ALLOW_PRIVATE.default, [
          '0',
          '1',
        ] as const) === '1',
      retrySeconds: retries.map(Number),
      disableAfterSeconds: v.whole('HEADRACE_WEBHOOK_DISABLE_AFTER_SECONDS', 1, 31_536_000),
    },
    automations: { minIntervalSeconds: v.whole('HEADRACE_AUTOMATION_MIN_INTERVAL_SECONDS', 1, 31_536_000) },
  };
}

/** Its path is in options of mounts, where some characters mean something, and of unix sockets, which are short. */
const isRunnerDir = (path: string) => /^\/[\w./-]{1,47}$/.test(path);

function sandboxesOf(
  v: Variables,
  roles: ReadonlySet<Role>,
): Pick<
  Config,
  'sandboxDriver' | 'sandboxLimits' | 'runnerDir' | 'container' | 'runConcurrency' | 'buildConcurrency'
> {
  // A runner on a node works for others, wherever the API listens.
  const isLoopback =
    !(roles.has('runner') && v.text('HEADRACE_TLS_CERT_FILE') !== null) &&
    /^(127\.|localhost$|::1$)/.test(v.textOrDefault('HEADRACE_HOST'));
  const socket = v.text('HEADRACE_CONTAINER_SOCKET')?.replace(/^unix:\/\//, '') ?? null;
  v.require(
    socket === null || socket.startsWith('/'),
    'HEADRACE_CONTAINER_SOCKET: has to be the path of a unix socket, as /run/podman/podman.sock',
  );
  const runnerDir = v.text('HEADRACE_RUNNER_DIR');
  v.require(
    runnerDir === null || isRunnerDir(runnerDir),
    'HEADRACE_RUNNER_DIR: has to be an absolute path of at most 48 letters, digits and ._-/',
  );
  return {
    runnerDir,
    sandboxDriver: v.oneOf('HEADRACE_SANDBOX_DRIVER', SETTINGS.HEADRACE_SANDBOX_DRIVER.default, [
      'auto',
      'bubblewrap',
      'container',
    ] as const),
    sandboxLimits: v.oneOf('HEADRACE_SANDBOX_LIMITS', isLoopback ? 'best-effort' : 'required', [
      'required',
      'best-effort',
    ] as const),
    container: {
      socket,
      image: v.text('HEADRACE_CONTAINER_IMAGE'),
      runtime: v.text('HEADRACE_CONTAINER_RUNTIME'),
    },
    runConcurrency: v.wholeOr('HEADRACE_RUN_CONCURRENCY', runsByMemory(), 1, 1000),
    buildConcurrency: v.wholeOr('HEADRACE_BUILD_CONCURRENCY', Math.max(2, availableParallelism()), 1, 1000),
  };
}

/** `host:port`; an IPv6 address in brackets. */
function metricsListenOf(v: Variables): Config['metricsListen'] {
  const text = v.text('HEADRACE_METRICS_LISTEN');
  if (text === null) return null;
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const isRight = host !== undefined && Number(port) <= 65_535 && (!bracketed || isIP(bracketed) === 6);
  v.require(isRight, 'HEADRACE_METRICS_LISTEN: has to be an address and a port, as 10.0.0.5:9464');
  return isRight ? { host, port: Number(port) } : null;
}

/** With runners elsewhere a worker only follows what runs there: their places bound that, not its memory. */
const JOBS_OF_FLEET = 256;
const BUILDS_OF_FLEET = 64;

const jobsOfFleetOf = (v: Variables): Partial<Pick<Config, 'runConcurrency' | 'buildConcurrency'>> => ({
  ...(v.text('HEADRACE_RUN_CONCURRENCY') === null ? { runConcurrency: JOBS_OF_FLEET } : {}),
  ...(v.text('HEADRACE_BUILD_CONCURRENCY') === null ? { buildConcurrency: BUILDS_OF_FLEET } : {}),
});

function s3Of(v: Variables): Config['s3'] {
  const bucket = v.text('HEADRACE_S3_BUCKET');
  return bucket === null
    ? null
    : {
        bucket,
        endpoint: v.text('HEADRACE_S3_ENDPOINT'),
        region: v.textOrDefault('HEADRACE_S3_REGION'),
      };
}

/**
 * Reads the configuration. Throws ConfigError naming every variable that is wrong. `isBootstrapKey` checks
 * the key's form.
 */
export function readConfig(env: Env, isBootstrapKey: (key: string) => boolean): Config {
  const v = new Variables(env);
  v.readSecretFiles();
  const dataDir = resolve(v.textOrDefault('HEADRACE_DATA_DIR'));
  const file = readConfigFile(v.text('HEADRACE_CONFIG_FILE'), join(dataDir, 'config.json'), {
    env,
    faults: v.faults,
  });
  const roles = rolesOf(v);
  const sandboxes = sandboxesOf(v, roles);
  const machines = machinesOf(v, roles, sandboxes.runConcurrency);
  const database = databaseOf(v);
  const config: Config = {
    settings: shownSettings(env),
    ...file,
    runtimes: withImported(file.runtimes, dataDir),
    dataDir,
    roles,
    ...database,
    ...secretsOf(v, database.databaseUrl),
    ...firstStartOf(v, isBootstrapKey),
    ...listenerOf(v),
    ...sandboxes,
    ...(machines ? jobsOfFleetOf(v) : {}),
    s3: s3Of(v),
    rateLimit: v.whole('HEADRACE_RATE_LIMIT', 1, 1_000_000_000),
    rateWindowSeconds: v.whole('HEADRACE_RATE_WINDOW_SECONDS', 1, 86_400),
    idleTimeoutMinutes: v.whole('HEADRACE_IDLE_TIMEOUT_MINUTES', 1, 60),
    logLevel: v.oneOf('HEADRACE_LOG_LEVEL', SETTINGS.HEADRACE_LOG_LEVEL.default, [
      'fatal',
      'error',
      'warn',
      'info',
      'debug',
      'trace',
      'silent',
    ] as const),
    metricsListen: metricsListenOf(v),
    eventRetentionSeconds: v.whole('HEADRACE_EVENT_RETENTION_SECONDS', 1, 31_536_000),
    cleanupGraceSeconds: v.whole('HEADRACE_CLEANUP_GRACE_SECONDS', 0, 604_800),
    repairBudgetSeconds: v.whole('HEADRACE_REPAIR_BUDGET_SECONDS', 1, 900),
    approvalTimeoutSeconds: v.whole('HEADRACE_APPROVAL_TIMEOUT_SECONDS', 1, 86_400),
    hostGraceSeconds: v.whole('HEADRACE_HOST_GRACE_SECONDS', 1, 604_800),
    ...sourceControlOf(v, file.scm),
    ...eventReadersOf(v),
    organizationBounds: {
      runs: v.bound('HEADRACE_ORG_RUNS'),
      builds: v.bound('HEADRACE_ORG_BUILDS'),
      execs: v.bound('HEADRACE_ORG_EXECS'),
      previews: v.bound('HEADRACE_ORG_PREVIEWS'),
      streams: v.bound('HEADRACE_ORG_STREAMS'),
      workspaceBytes: v.bound('HEADRACE_ORG_WORKSPACE_BYTES', 999_999_999_999_999),
    },
    machines,
  };
  if (v.faults.length) throw new ConfigError(v.faults);
  return config;
}
