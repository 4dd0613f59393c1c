/** The part `scm` of the configuration file: installations, who commits, branches, history. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import Type from 'typebox';
import type { Static } from 'typebox';
import { isBranchName } from './git/ref-names.ts';

const closed = { additionalProperties: false };
const Secret = Type.Object(
  {
    env: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    file: Type.Optional(Type.String({ minLength: 1 })),
  },
  { ...closed, minProperties: 1, maxProperties: 1 },
);
const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
/** What git writes into a commit: no line end, no angle bracket. */
const PersonText = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^<>\\x00-\\x1f\\x7f]+$' });

const Installation = Type.Object(
  {
    organization: Type.Optional(Text(64)),
    name: Text(100),
    provider: Type.Literal('github'),
    baseUrl: Type.Optional(
      Type.String({ minLength: 1, maxLength: 2048, format: 'uri', pattern: '^https?://' }),
    ),
    token: Type.Optional(Secret),
    app: Type.Optional(
      Type.Object({ appId: Text(100), installationId: Text(100), privateKey: Secret }, closed),
    ),
    webhookSecret: Type.Optional(Secret),
  },
  closed,
);

export const Scm = Type.Object(
  {
    installations: Type.Optional(Type.Array(Installation, { maxItems: 100 })),
    commit: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(PersonText),
          email: Type.Optional(PersonText),
          coAuthors: Type.Optional(Type.Boolean()),
          signingKey: Type.Optional(Type.Union([Text(4096), Type.Object({ file: Text(4096) }, closed)])),
        },
        closed,
      ),
    ),
    branchPrefix: Type.Optional(Type.String({ maxLength: 100 })),
    historyDepth: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  },
  closed,
);
type Scm = Static<typeof Scm>;

/** An installation of the file, with its secrets as they were read. */
export interface ScmInstallationEntry {
  /** Null: the first organization. */
  organization: string | null;
  name: string;
  provider: 'github';
  baseUrl: string | null;
  credential: { token: string } | { appId: string; installationId: string; privateKey: string };
  webhookSecret: string | null;
}

export interface ScmFileConfig {
  installations: ScmInstallationEntry[];
  /** `signingKey`: an SSH private key's file, absolute. */
  commit: { name: string; email: string; coAuthors: boolean; signingKey: string | null };
  /** Before the names of the service's branches. */
  branchPrefix: string;
  /** Commits that a workspace's history has. */
  historyDepth: number;
}

export const DEFAULT_SCM: ScmFileConfig = {
  installations: [],
  commit: { name: 'Headrace', email: 'headrace@localhost', coAuthors: false, signingKey: null },
  branchPrefix: 'headrace/',
  historyDepth: 50,
};

type Say = (place: string, message: string) => void;
interface Sources {
  folder: string;
  env: Record<string, string | undefined>;
  say: Say;
}

/** Reads secrets from where the part names them. Faults are said at their places in the file. */
export function readScm(scm: Scm, { folder, env, say }: Sources): ScmFileConfig {
  const secretAt = (place: string, secret: Static<typeof Secret>): string =>
    readSecret(secret, { folder, env, say: (_, message) => say(place, message) });
  const installations = (scm.installations ?? []).map((one, index) => {
    const place = `/scm/installations/${index}`;
    if ((one.token === undefined) === (one.app === undefined))
      say(place, 'has to have just one of token and app');
    const webhookSecret = one.webhookSecret ? secretAt(`${place}/webhookSecret`, one.webhookSecret) : null;
    if (webhookSecret !== null && !/^[^]{16,200}$/u.test(webhookSecret))
      say(`${place}/webhookSecret`, 'has to have 16 to 200 characters');
    return {
      organization: one.organization ?? null,
      name: one.name,
      provider: one.provider,
      baseUrl: one.baseUrl ?? null,
      credential: one.app
        ? { ...one.app, privateKey: secretAt(`${place}/app/privateKey`, one.app.privateKey) }
        : { token: one.token ? secretAt(`${place}/token`, one.token) : '' },
      webhookSecret,
    };
  });
  sayTwice(installations, say);
  const { signingKey: given, ...commit } = scm.commit ?? {};
  const signingKey = typeof given === 'object' ? given.file : given;
  const branchPrefix = scm.branchPrefix ?? DEFAULT_SCM.branchPrefix;
  if (!isBranchName(`${branchPrefix}x`)) say('/scm/branchPrefix', 'cannot begin the name of a branch');
  return {
    installations,
    commit: {
      ...DEFAULT_SCM.commit,
      ...commit,
      signingKey: signingKey === undefined ? null : signingKeyAt(resolve(folder, signingKey), say),
    },
    branchPrefix,
    historyDepth: scm.historyDepth ?? DEFAULT_SCM.historyDepth,
  };
}

/** An installation is known by its organization and name. */
function sayTwice(installations: readonly ScmInstallationEntry[], say: Say): void {
  const seen = new Set<string>();
  installations.forEach(({ organization, name }, index) => {
    const key = JSON.stringify([organization, name]);
    if (seen.has(key)) say(`/scm/installations/${index}/name`, 'is the name of an earlier installation');
    seen.add(key);
  });
}

function signingKeyAt(file: string, say: Say): string {
  readText(file, (message) => say('/scm/commit/signingKey', message));
  return file;
}

function readSecret(secret: Static<typeof Secret>, { folder, env, say }: Sources): string {
  const refuse = (message: string) => say('', message);
  if (secret.env !== undefined) {
    const value = env[secret.env];
    if (!value) refuse(`names the variable ${secret.env}, which is not set`);
    return value ?? '';
  }
  const text = readText(resolve(folder, secret.file!), refuse).trim();
  if (text === '') refuse('names a file with nothing in it');
  return text;
}

function readText(file: string, refuse: (message: string) => void): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    refuse(`names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return '-';
  }
}
