/**
 * The configuration that is too large for environment variables: agents, model providers and prices, what
 * sandboxes may reach and which systems they may have, source control, as a JSON file (HEADRACE_CONFIG_FILE, by default
 * `config.json` in the data folder, if there is one). docs/guides/agents.md shows it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Type from 'typebox';
import type { Static } from 'typebox';
import { Egress, NO_EGRESS, readEgress } from './egress-config.ts';
import type { EgressConfig } from './egress-config.ts';
import { compile } from './http/validate.ts';
import { readRuntimes, Runtimes } from './runtimes-config.ts';
import type { RuntimeEntry } from './runtimes-config.ts';
import { DEFAULT_SCM, readScm, Scm } from './scm-config.ts';
import type { ScmFileConfig } from './scm-config.ts';

const Name = '^[a-z][a-z0-9._-]{0,63}$';
const Wire = Type.Union([
  Type.Literal('anthropic'),
  Type.Literal('openai-chat'),
  Type.Literal('openai-responses'),
]);
const Texts = Type.Record(Type.String(), Type.String());
/** A path in an agent's HOME. */
const InHome = Type.String({
  maxLength: 300,
  pattern: String.raw`^(?!\.{0,2}(/|$))[^/\0]+(/(?!\.{0,2}(/|$))[^/\0]+)*$`,
});
const Micros = Type.Integer({ minimum: 0, maximum: 1e12 });
const closed = { additionalProperties: false };

const Agent = Type.Object(
  {
    command: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
    folder: Type.Optional(Type.String({ minLength: 1 })),
    env: Type.Optional(Texts),
    home: Type.Optional(Texts),
    instructionsFile: Type.Optional(InHome),
    skillsFolder: Type.Optional(InHome),
    mode: Type.Optional(
      Type.Object({ allow: Type.Optional(Type.String()), ask: Type.Optional(Type.String()) }, closed),
    ),
    asks: Type.Optional(Type.Boolean()),
    wire: Wire,
    models: Type.Array(Type.String({ minLength: 1 })),
    install: Type.Optional(Type.String()),
  },
  closed,
);
const Provider = Type.Object(
  {
    baseUrl: Type.String({ format: 'uri', pattern: '^https?://' }),
    wires: Type.Array(Wire, { minItems: 1 }),
    key: Type.Optional(Type.Union([Type.Literal('required'), Type.Literal('none')])),
    contextTokens: Type.Optional(Type.Integer({ minimum: 2000, maximum: 100_000_000 })),
  },
  closed,
);
const Price = Type.Object(
  {
    inputMicros: Micros,
    outputMicros: Micros,
    cachedMicros: Type.Optional(Micros),
    cacheWriteMicros: Type.Optional(Micros),
  },
  closed,
);
const File = Type.Object(
  {
    agents: Type.Optional(Type.Record(Type.String({ pattern: Name }), Agent)),
    providers: Type.Optional(Type.Record(Type.String({ pattern: Name }), Provider)),
    prices: Type.Optional(Type.Record(Type.String(), Price)),
    egress: Type.Optional(Egress),
    runtimes: Type.Optional(Runtimes),
    scm: Type.Optional(Scm),
  },
  closed,
);
const faultsOf = compile(File, 'body');

export type Wire = Static<typeof Wire>;

/**
 * An agent that speaks ACP. In `command`, `env` and `home`, {gateway}, {token}, {provider}, {model} and
 * {modelId} are replaced.
 */
export interface AgentEntry {
  command: string[];
  /** Folder of the runner's host, absolute. */
  folder: string | null;
  env: Record<string, string>;
  home: Record<string, string>;
  /** In its HOME, where it looks for instructions and skills; null: its first prompt has them. */
  instructionsFile: string | null;
  skillsFolder: string | null;
  /** ACP session modes: where every tool is allowed, and where the rules for approvals have to be asked. */
  mode: { allow: string | null; ask: string | null };
  /**
   * Whether it asks before it uses a tool. One that does not is kept from runs whose rules have to be
   * asked.
   */
  asks: boolean;
  wire: Wire;
  /** Patterns of the models that it serves; `*` matches any text. */
  models: string[];
  install: string | null;
}

export interface ProviderEntry {
  /** Up to and with `/v1`, without a slash at the end. */
  baseUrl: string;
  wires: Wire[];
  /** Whether a call needs the organization's key. */
  key: 'required' | 'none';
  /** The context window of its models, for the built-in agent; undefined: a usual one. */
  contextTokens?: number;
}

/** Micro-units of USD for a million tokens. */
export interface PriceEntry {
  inputMicros: number;
  outputMicros: number;
  cachedMicros: number;
  cacheWriteMicros: number;
}

export interface FileConfig {
  agents: Record<string, AgentEntry>;
  /** Which agents executionTarget.provider names. */
  providers: Record<string, ProviderEntry>;
  /** Model id, or a pattern with `*`, to what overrides the known price. */
  prices: Record<string, PriceEntry>;
  egress: EgressConfig;
  runtimes: RuntimeEntry[];
  scm: ScmFileConfig;
}

const BUILT_IN_AGENTS = ['scripted', 'headrace'];
const PROVIDERS: Record<string, ProviderEntry> = {
  anthropic: { baseUrl: 'https://api.anthropic.com/v1', wires: ['anthropic'], key: 'required' },
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    wires: ['openai-responses', 'openai-chat'],
    key: 'required',
  },
};

/**
 * Reads the file; without one, the built-in providers alone. Faults are added to `faults`, each with its
 * place in the file.
 */
export function readConfigFile(
  path: string | null,
  fallback: string,
  { env, faults }: { env: Record<string, string | undefined>; faults: string[] },
): FileConfig {
  const file = path === null ? fallback : resolve(path);
  const nothing: FileConfig = {
    agents: {},
    providers: PROVIDERS,
    prices: {},
    egress: NO_EGRESS,
    runtimes: [],
    scm: DEFAULT_SCM,
  };
  if (path === null && !existsSync(file)) return nothing;
  const say = (place: string, message: string) => {
    faults.push(`${file}: ${place && `${placeWords(place)}: `}${message}`);
  };
  let read: Static<typeof File>;
  try {
    read = JSON.parse(readFileSync(file, 'utf8')) as Static<typeof File>;
  } catch (error) {
    say(
      '',
      error instanceof SyntaxError
        ? 'is not JSON'
        : `cannot be read (${(error as NodeJS.ErrnoException).code})`,
    );
    return nothing;
  }
  const wrong = faultsOf(read);
  for (const { path: place, message } of wrong) say(place, message);
  if (wrong.length) return nothing;
  const agents = Object.fromEntries(
    Object.entries(read.agents ?? {}).map(([name, agent]): [string, AgentEntry] => [
      name,
      {
        command: agent.command,
        folder: agent.folder === undefined ? null : resolve(dirname(file), agent.folder),
        env: agent.env ?? {},
        home: agent.home ?? {},
        instructionsFile: agent.instructionsFile ?? null,
        skillsFolder: agent.skillsFolder ?? null,
        mode: { allow: agent.mode?.allow ?? null, ask: agent.mode?.ask ?? null },
        asks: agent.asks ?? true,
        wire: agent.wire,
        models: agent.models,
        install: agent.install ?? null,
      },
    ]),
  );
  for (const name of BUILT_IN_AGENTS)
    if (agents[name]) say(`/agents/${name}`, 'is built in; choose another name');
  for (const [name, { instructionsFile, skillsFolder, home }] of Object.entries(agents)) {
    const files = Object.keys(home);
    if (instructionsFile !== null && files.some((file) => isOneBelow(instructionsFile, file)))
      say(`/agents/${name}/instructionsFile`, 'is one of the files of `home`, or one lies below the other');
    if (skillsFolder !== null && files.some((file) => `${skillsFolder}/`.startsWith(`${file}/`)))
      say(`/agents/${name}/skillsFolder`, 'is one of the files of `home`, or lies below one');
    if (instructionsFile !== null && skillsFolder !== null && isOneBelow(instructionsFile, skillsFolder))
      say(`/agents/${name}/skillsFolder`, 'and instructionsFile must not be one below the other');
  }
  const providers = {
    ...PROVIDERS,
    ...Object.fromEntries(
      Object.entries(read.providers ?? {}).map(([name, one]): [string, ProviderEntry] => [
        name,
        {
          baseUrl: one.baseUrl.replace(/\/+$/, ''),
          wires: one.wires,
          key: one.key ?? 'required',
          ...(one.contextTokens === undefined ? {} : { contextTokens: one.contextTokens }),
        },
      ]),
    ),
  };
  const prices = Object.fromEntries(
    Object.entries(read.prices ?? {}).map(([model, one]): [string, PriceEntry] => [
      model,
      { cachedMicros: one.inputMicros, cacheWriteMicros: one.inputMicros, ...one },
    ]),
  );
  const egress = readEgress(read.egress ?? {}, dirname(file), say);
  const runtimes = readRuntimes(read.runtimes ?? [], dirname(file), say);
  const scm = readScm(read.scm ?? {}, { folder: dirname(file), env, say });
  return { agents, providers, prices, egress, runtimes, scm };
}

const isOneBelow = (a: string, b: string): boolean => `${a}/`.startsWith(`${b}/`) || b.startsWith(`${a}/`);

/** A JSON pointer as people write a member: `egress.caFile`. */
const placeWords = (pointer: string): string =>
  pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
