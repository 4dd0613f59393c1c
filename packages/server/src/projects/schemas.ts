import Type from 'typebox';
import { BRANCH_PATTERN } from '../git/ref-names.ts';
import { Counter, Id, Nullable, Text, Time } from '../http/schemas.ts';

const METADATA_PAIRS = 50;

/** At most 50 pairs; keys up to 64, values up to 500 characters, the repair script up to 20,000. */
export const Metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: METADATA_PAIRS,
  examples: [{ team: 'garden' }],
  properties: {
    'headrace.repairScript': {
      type: 'string',
      maxLength: 20_000,
      description:
        'A message text with fenced blocks, or a bare shell script: what the scripted agent does to repair conflicts.',
    },
  },
  propertyNames: { type: 'string', maxLength: 64 },
  additionalProperties: { type: 'string', maxLength: 500 },
});

export const Name = Text('Garden planner', { minLength: 1, maxLength: 200 });
export const ExternalId = Text('customer-42', {
  minLength: 1,
  maxLength: 128,
  description: "The customer's own id, unique among the organization's apps.",
});

const StoredMetadata = Type.Record(Type.String(), Type.String(), { examples: [{ team: 'garden' }] });

/** A name that git takes. Whether the repository has it shows at the first thread. */
export const Branch = Text('main', { minLength: 1, maxLength: 255, pattern: BRANCH_PATTERN });

export const App = Type.Object({
  id: Id('prj'),
  projectId: Id('prj', 'Equals `id`.'),
  orgId: Id('org'),
  name: Name,
  externalId: Nullable(ExternalId),
  metadata: StoredMetadata,
  headSourceId: Nullable(Id('src')),
  headRevision: Nullable(Counter),
  version: Counter,
  createdAt: Time,
  updatedAt: Time,
  deletedAt: Nullable(Time),
});

export const Project = Type.Object({
  id: Id('prj'),
  orgId: Id('org'),
  name: Name,
  kind: Type.Unsafe<'direct' | 'platform'>({ type: 'string', enum: ['direct', 'platform'] }),
  repositoryId: Nullable(Id('repo')),
  repoFullName: Nullable(Text('acme/garden')),
  defaultBranch: Nullable(Text('main')),
  headSourceId: Nullable(Id('src')),
  headRevision: Nullable(Counter),
  headCommitSha: Nullable(
    Text('7d0f1c8a5b0f4e5c9a2b3d4e5f60718293a4b5c6', {
      description: 'The commit of the default branch at the last fetch; null without a repository.',
    }),
  ),
  metadata: StoredMetadata,
  version: Counter,
  createdAt: Time,
  updatedAt: Time,
  deletedAt: Nullable(Time),
});

export const Head = Type.Object({
  projectId: Id('prj'),
  sourceId: Id('src'),
  revision: Counter,
  updatedAt: Time,
});
