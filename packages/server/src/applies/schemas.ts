import Type from 'typebox';
import { Body, Counter, Enum, Id, IdInput, Nullable, Sha256, Text, Time } from '../http/schemas.ts';

export const APPLY_STATUSES = ['queued', 'applied', 'conflicted', 'failed'] as const;
const MAX_RESOLUTIONS = 1000;
const Path = (description: string) => Text('src/index.ts', { minLength: 1, maxLength: 1024, description });

const Repair = Type.Object({
  runId: Nullable(Id('run')),
  headSourceId: Nullable(Id('src', 'The head that this attempt merged with.')),
  revision: Nullable(Counter),
  startedAt: Nullable(Time),
  error: Nullable(Text('unresolved: The two intents exclude each other.')),
  report: Nullable(
    Type.Object({
      status: Enum(['resolved', 'unresolved']),
      summary: Text('Kept both.', { minLength: 1, maxLength: 4000 }),
      checks: Type.Array(Text('compared both sides', { maxLength: 1000 }), { maxItems: 30 }),
    }),
  ),
  candidateFingerprint: Type.Optional(Text('3f7a0c')),
});

/** Every field is always there. */
export const Apply = Type.Object({
  id: Id('apl'),
  sequence: { ...Counter, description: 'Its position in the queue of its project.' },
  conflictResolution: Enum(['agent', 'manual']),
  repairs: Type.Array(Repair, { examples: [[]] }),
  orgId: Id('org'),
  projectId: Id('prj'),
  threadId: Id('thr'),
  baseSourceId: Nullable(Id('src', 'The source that the draft started from.')),
  draftSourceId: Id('src'),
  headSourceId: Nullable(Id('src', 'The head that it was merged with; null until then.')),
  resultSourceId: Nullable(Id('src', 'The head after it; null unless applied.')),
  expectedHeadSourceId: Nullable(Id('src')),
  resolutions: Type.Array(Type.Object({ path: Text('src/index.ts'), take: Enum(['head', 'draft']) }), {
    examples: [[]],
  }),
  status: Enum(APPLY_STATUSES),
  conflicts: Type.Array(Text('src/index.ts'), {
    description: 'Paths in conflict, sorted by their bytes.',
    examples: [[]],
  }),
  error: Nullable(
    Text('stale_head: The head has moved.', { description: 'Begins with a code and a colon.' }),
  ),
  createdByUserId: Nullable(Text('sa_01k9x3v5e8f7arh2m4t6w8y0zb')),
  createdAt: Time,
  finishedAt: Nullable(Time),
});

const decision = {
  expectedSourceId: IdInput('src', "The thread's latest source, as the caller knows it."),
  conflictResolution: Type.Optional(
    Enum(['agent', 'manual'], { description: 'Who resolves conflicts; default `agent`.' }),
  ),
  expectedHeadSourceId: Type.Optional(
    IdInput('src', 'Pins the head: if the head is another one, the apply is refused, or ends as conflicted.'),
  ),
  resolutions: Type.Optional(
    Type.Array(
      Body({
        path: Path(
          'A path in conflict, or a folder with a slash at its end: all conflicts below it. The longest match wins.',
        ),
        take: Enum(['head', 'draft'], { description: 'What that side has at the path, or nothing.' }),
      }),
      { maxItems: MAX_RESOLUTIONS },
    ),
  ),
};
const pinned = { dependentRequired: { resolutions: ['expectedHeadSourceId'] } };

export const ApplyBody = Body(
  {
    ...decision,
    clientOperationId: Text('7d1f5a52', {
      minLength: 1,
      maxLength: 128,
      description: 'Equals the Idempotency-Key; every retry reuses it.',
    }),
  },
  pinned,
);
export const PreviewBody = Body(decision, pinned);
export const PreviewFileBody = Body({ ...decision, path: Path('A path in conflict.') }, pinned);

const Sha = (side: string) =>
  Nullable(
    Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: `SHA-256 of what the ${side} has at the path; null for nothing.`,
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
  );
const Lines = Type.Array(Text('one line'));
const Start = Type.Integer({ minimum: 0, examples: [12] });

const Kind = Enum(['content', 'add_add', 'delete_modify', 'rename', 'mode', 'binary', 'path']);

export const Conflict = Type.Object({
  path: Text('src/index.ts'),
  kind: Kind,
  base: Sha('base'),
  head: Sha('head'),
  draft: Sha('draft'),
  hunks: Type.Optional(
    Type.Array(
      Type.Object({
        baseStart: Start,
        headStart: Start,
        draftStart: Start,
        base: Lines,
        head: Lines,
        draft: Lines,
      }),
      { description: 'The regions that both sides changed; lines count from 1.' },
    ),
  ),
});

const Side = Nullable(
  Type.Object(
    {
      sha256: Sha256,
      byteSize: Type.Integer({ minimum: 0, examples: [1420] }),
      executable: Type.Boolean(),
      encoding: Enum(['utf8', 'base64'], { description: 'utf8 if the content is valid UTF-8.' }),
      content: Nullable(Type.String({ description: 'null if over 1 MiB.', examples: ['coffee 3.20\n'] })),
    },
    { title: 'ConflictSide' },
  ),
);
const Line = Type.Integer({ minimum: 1, examples: [2] });

export const ConflictFile = Type.Object(
  {
    path: Text('prices.txt'),
    kind: Kind,
    base: Side,
    head: Side,
    draft: Side,
    merged: Nullable(
      Type.Object(
        {
          content: Type.String({
            examples: ['tea 2.00\n<<<<<<< head\ncoffee 3.20\n=======\ncoffee 3.50\n>>>>>>> draft\n'],
          }),
          regions: Type.Array(Type.Object({ fromLine: Line, toLine: Line }), {
            description: 'The lines of each conflict, from marker to marker, counted from 1.',
          }),
        },
        {
          description:
            "Git's merged text with its markers; null if git cannot merge text, or if the text is over 1 MiB or not UTF-8.",
        },
      ),
    ),
  },
  { title: 'ConflictFile' },
);
