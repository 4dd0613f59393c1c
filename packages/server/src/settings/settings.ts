/**
 * Settings of an app and of an organization, as stored: null means the organization's, then the service's
 * default.
 */
import Type from 'typebox';
import type { Static } from 'typebox';
import type { MergeMethod, StoredSettings } from '../db/schema.ts';
import { Body, Enum, Micros, Nullable, Text } from '../http/schemas.ts';

const Approval = Body({
  tool: Text('sh', { minLength: 1, maxLength: 100 }),
  pattern: Type.Optional(
    Text('rm *', {
      maxLength: 1000,
      description: 'Matches the whole command; `*` matches any text. When omitted: every command.',
    }),
  ),
  decision: Enum(['ask', 'allow', 'deny'] as const),
});
/**
 * A name with a dot in it whose last part is no number: no address, however written. Below a wildcard are
 * two parts or more: not all of `com`.
 */
const HOST = String.raw`^(\*\.)?([A-Za-z0-9_]([A-Za-z0-9_\-]{0,61}[A-Za-z0-9_])?\.)+[A-Za-z]([A-Za-z0-9\-]{0,61}[A-Za-z0-9])?$`;
/**
 * A source of Content-Security-Policy's frame-ancestors: visible ASCII without the `;` and `,` that would
 * end it.
 */
const ANCESTOR = '^[!-+\\--:<-~]{1,300}$';
const Parallel = Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 1000, examples: [4] })));

const Egress = Body(
  {
    mode: Enum(['none', 'registries', 'list'] as const),
    hosts: Type.Optional(
      Type.Array(Type.String({ pattern: HOST, maxLength: 253, examples: ['api.example.com'] }), {
        maxItems: 200,
        description:
          'Names, in punycode if they are not ASCII; `*.example.com` matches every name below example.com, but not itself.',
      }),
    ),
  },
  {
    description:
      'What sandboxes can reach, over TLS on port 443. `none`: nothing. `registries`: the package registries, and `hosts`. `list`: `hosts`.',
  },
);

const MERGE_METHODS = ['merge', 'squash', 'rebase'] as const satisfies MergeMethod[];
const Flag = (description: string) =>
  Type.Optional(Nullable({ ...Type.Boolean({ examples: [true] }), description } as Type.TBoolean));

const PullRequests = Body({ draft: Flag('New pull requests are drafts. Default: false.') });

const ReviewLoop = Body(
  {
    enabled: Flag('New pull requests begin with their review loop enabled. Default: false.'),
    autoMerge: Flag(
      'The loop of new pull requests merges by itself. Default: false. Setting it to true also needs `repo:update`.',
    ),
    maxPasses: Type.Optional(
      Nullable(
        Type.Integer({ minimum: 1, maximum: 20, examples: [5], description: 'Passes in a row. Default: 5.' }),
      ),
    ),
    mergeMethod: Type.Optional(
      Nullable(Enum(MERGE_METHODS, { description: 'Default: the first one that the repository allows.' })),
    ),
    instructions: Type.Optional(
      Nullable(
        Text('Keep the public API as it is.', {
          maxLength: 20_000,
          description: 'Text at the start of each pass.',
        }),
      ),
    ),
    reply: Flag('Review comments of a pass get a reply. Default: true.'),
  },
  {
    description:
      "`enabled` and `autoMerge` apply when a pull request is created, the others at each use. A field that is null or left out is the organization's, else the service's default.",
  },
);

const fields = {
  idleTimeoutMinutes: Nullable(Type.Integer({ minimum: 1, maximum: 60, examples: [15] })),
  modelId: Nullable(Text('scripted', { minLength: 1, maxLength: 128 })),
  spendLimitMicros: Nullable({
    ...Micros,
    description: 'Lifetime spend limit of new threads, in micro-units of USD.',
  } as typeof Micros),
  budgetMicros: Nullable({
    ...Micros,
    description: 'Budget of a UTC month, in micro-units of USD.',
  } as typeof Micros),
  approvals: Nullable(
    Type.Array(Approval, {
      maxItems: 100,
      description: "The first rule that matches decides; an app's list replaces the organization's.",
    }),
  ),
  egress: Nullable(Egress),
  concurrency: {
    ...Nullable(Body({ runs: Parallel, builds: Parallel })),
    description:
      "How many may be in progress at the same time; the others wait. The organization's setting limits all of its apps together, and each app that sets none.",
  },
  runtime: Nullable(
    Text('debian-12', {
      minLength: 1,
      maxLength: 63,
      description: 'The system that sandboxes have, a name from `GET /api/runtimes`.',
    }),
  ),
  preview: Nullable(
    Body({
      frameAncestors: Type.Array(Type.String({ pattern: ANCESTOR, examples: ['https://app.example.com'] }), {
        maxItems: 50,
      }),
    }),
  ),
  instructions: Nullable(
    Text('Write a test with each change.', {
      maxLength: 20_000,
      description:
        "What each run's agent is told. Both levels hold: the organization's, then, after a blank line, the app's.",
    }),
  ),
  pullRequests: Nullable(PullRequests),
  reviewLoop: Nullable(ReviewLoop),
};

export const Settings = Type.Object(fields);
/** Changes only what it names; null takes it back. */
export const SettingsChange = Body({
  idleTimeoutMinutes: Type.Optional(fields.idleTimeoutMinutes),
  modelId: Type.Optional(fields.modelId),
  spendLimitMicros: Type.Optional(fields.spendLimitMicros),
  budgetMicros: Type.Optional(fields.budgetMicros),
  approvals: Type.Optional(fields.approvals),
  egress: Type.Optional(fields.egress),
  concurrency: Type.Optional(fields.concurrency),
  runtime: Type.Optional(fields.runtime),
  preview: Type.Optional(fields.preview),
  instructions: Type.Optional(fields.instructions),
  pullRequests: Type.Optional(fields.pullRequests),
  reviewLoop: Type.Optional(fields.reviewLoop),
});

/** Permissions that a change needs in addition to the operation's own. */
export const permissionsFor = ({ reviewLoop }: Static<typeof SettingsChange>): string[] =>
  reviewLoop?.autoMerge === true ? ['repo:update'] : [];

/** The stored settings after a change. */
export function changed(stored: StoredSettings, change: Static<typeof SettingsChange>): StoredSettings {
  const { egress, concurrency, pullRequests, reviewLoop, ...rest } = change;
  return {
    ...stored,
    ...rest,
    ...(egress === undefined ? {} : { egress: egress && { mode: egress.mode, hosts: egress.hosts ?? [] } }),
    ...(concurrency === undefined
      ? {}
      : {
          concurrency: concurrency && { runs: concurrency.runs ?? null, builds: concurrency.builds ?? null },
        }),
    ...(pullRequests === undefined
      ? {}
      : { pullRequests: pullRequests && { draft: pullRequests.draft ?? null } }),
    ...(reviewLoop === undefined ? {} : { reviewLoop: reviewLoop && { ...NO_LOOP, ...reviewLoop } }),
  };
}

const NO_LOOP: NonNullable<StoredSettings['reviewLoop']> = {
  enabled: null,
  autoMerge: null,
  maxPasses: null,
  mergeMethod: null,
  instructions: null,
  reply: null,
};

/** Every field, null where nothing is stored. */
export const settingsView = (stored: StoredSettings) => ({
  idleTimeoutMinutes: stored.idleTimeoutMinutes ?? null,
  modelId: stored.modelId ?? null,
  spendLimitMicros: stored.spendLimitMicros ?? null,
  budgetMicros: stored.budgetMicros ?? null,
  approvals: stored.approvals ?? null,
  egress: stored.egress ?? null,
  concurrency: stored.concurrency ?? null,
  runtime: stored.runtime ?? null,
  preview: stored.preview ?? null,
  instructions: stored.instructions ?? null,
  pullRequests: stored.pullRequests ?? null,
  reviewLoop: stored.reviewLoop ?? null,
});
