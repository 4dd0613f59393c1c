import Type from 'typebox';
import { Counter, Enum, Id, Nullable, Sha256, Text, Time } from '../http/schemas.ts';

export const BUILD_STATUSES = ['queued', 'building', 'ready', 'failed'] as const;
const BUILD_ERRORS = [
  'command_failed',
  'timed_out',
  'output_missing',
  'output_invalid',
  'output_too_large',
  'cancelled',
  'worker_lost',
  'setup_failed',
] as const;
export type BuildError = (typeof BUILD_ERRORS)[number];

export const MAX_TIMEOUT_SECONDS = 600;
/** How many builds without a thread an app may have queued or building. */
export const MAX_WITHOUT_THREAD = 100;

export const Command = Text('npm ci && npm run build', {
  minLength: 1,
  maxLength: 10_000,
  description: "Run by `sh -c` in the source's root.",
});
export const OutputDirectory = Text('dist', {
  minLength: 1,
  maxLength: 1024,
  description: "A path below the source's root, or `.` for all of it.",
});

export const Build = Type.Object({
  id: Id('bld'),
  projectId: Id('prj'),
  threadId: Nullable(Id('thr', 'Null: a build of the app, by no thread.')),
  sourceId: Id('src'),
  command: Command,
  outputDirectory: OutputDirectory,
  timeoutSeconds: Type.Integer({ examples: [MAX_TIMEOUT_SECONDS] }),
  setup: Type.Boolean({ examples: [false], description: "It has the layer of the app's setup." }),
  status: Enum(BUILD_STATUSES),
  exitCode: Nullable(Type.Integer({ examples: [0] })),
  error: Nullable(Type.Object({ code: Enum(BUILD_ERRORS), message: Text('The command exited with 1.') })),
  artifactSha256: Nullable(Sha256),
  artifactByteSize: Nullable(Counter),
  fileCount: Nullable(Counter),
  createdAt: Time,
  startedAt: Nullable(Time),
  finishedAt: Nullable(Time),
});

export const Manifest = Type.Object({
  buildId: Id('bld'),
  sourceId: Id('src'),
  artifactSha256: Sha256,
  fileCount: Counter,
  byteSize: Counter,
  files: Type.Array(
    Type.Object({
      path: Text('index.html'),
      byteSize: Counter,
      sha256: Sha256,
      mode: Enum(['0644', '0755']),
    }),
    { description: 'Sorted by the bytes of the paths, which are relative to the output directory.' },
  ),
});
