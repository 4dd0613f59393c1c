import Type from 'typebox';
import { Body, Enum, Id, IdInput, Nullable, Sha256, Text, Time } from '../http/schemas.ts';
import { MAX_FILES } from './import/bundle-rules.ts';
import { MAX_MESSAGE } from './import/shape.ts';
import { MAX_WARNINGS } from './import/tar-links.ts';

const Bytes = Type.Integer({ minimum: 0, examples: [1420] });
const Path = Text('src/index.ts', { description: 'Relative, with slashes.' });

const Commit = Type.Object(
  {
    sha: Text('7d0f1c8a5b0f4e5c9a2b3d4e5f60718293a4b5c6'),
    branch: Nullable(Text('main', { description: 'The name under which it was first fetched.' })),
    keptAside: Type.Array(
      Type.Object({
        path: Path,
        reason: Enum(['symlink', 'submodule', 'reserved_name', 'invalid_name', 'collision', 'too_large']),
      }),
      { maxItems: 100 },
    ),
    keptAsideCount: Type.Integer({ minimum: 0, examples: [0] }),
  },
  {
    description:
      'The commit that it was fetched from; null of other sources. `keptAside` is what the commit has and a source may not: it stays in every commit that the service makes.',
  },
);

export const Source = Type.Object({
  id: Id('src'),
  projectId: Id('prj'),
  threadId: Nullable(Id('thr')),
  runId: Nullable(Id('run')),
  parentSourceIds: Type.Array(Id('src')),
  origin: Enum(['import', 'edit', 'run', 'restore', 'apply', 'recovery']),
  sha256: {
    ...Sha256,
    description:
      'SHA-256 over `<0644|0755> <sha256 of content> <byte size> <path>\\n` of every file, sorted by path bytes.',
  },
  byteSize: Bytes,
  fileCount: Type.Integer({ minimum: 0, examples: [3] }),
  message: Nullable(Text('First import')),
  commit: Nullable(Commit),
  createdAt: Time,
});

/** What an import left out. */
export const Warnings = Type.Array(
  Type.Object({ path: Text('docs/latest'), reason: Text('leads out of the archive') }),
  { maxItems: MAX_WARNINGS, description: 'What was left out.' },
);

const entry = { path: Path, byteSize: Bytes, sha256: Sha256, executable: Type.Boolean() };
export const SourceFile = Type.Object(entry);
export const SourceFileContent = Type.Object({
  ...entry,
  encoding: Enum(['utf8', 'base64'], { description: 'utf8 where the content is valid UTF-8.' }),
  content: Text('export {};\n'),
});

export const DiffFile = Type.Object({
  path: Path,
  oldPath: Type.Optional(Text('src/main.ts')),
  status: Enum(['added', 'modified', 'deleted', 'renamed', 'mode']),
  binary: Type.Boolean(),
  additions: Type.Integer({ minimum: 0 }),
  deletions: Type.Integer({ minimum: 0 }),
  patch: Type.Optional(
    Text('diff --git a/a.txt b/a.txt\n', {
      description: 'A whole git patch; absent for binary files and where no line changed.',
    }),
  ),
  truncated: Type.Optional(
    Type.Boolean({
      description:
        'The patch is omitted: the patches would exceed 8 MiB in total, its text is not UTF-8, the file has more than 200,000 lines, or the comparison took too long.',
    }),
  ),
});

const Place = Type.Integer({ minimum: 0, examples: [8] });
export const SearchMatch = Type.Object({
  path: Path,
  line: Type.Integer({ minimum: 1, examples: [12] }),
  column: Type.Integer({
    minimum: 1,
    examples: [9],
    description: 'Where the first of `ranges` begins, in code points; without ranges, the first empty match.',
  }),
  text: Text('  return TODO;', { description: 'The first 1,000 code points of the line, without its end.' }),
  ranges: Type.Array(Type.Object({ start: Place, end: Place }), {
    maxItems: 100,
    description:
      'The matches in the line, from 0, in code points; they can lie behind `text`. Empty matches have no range.',
  }),
  before: Type.Array(Text('function a() {', { description: 'The first 1,000 code points.' })),
  after: Type.Array(Text('}', { description: 'The first 1,000 code points.' })),
  truncated: Type.Boolean({ description: 'Whether the line is longer than `text`.' }),
});

export const MessageInput = Text('First import', { maxLength: MAX_MESSAGE });
export const SourceIdInput = IdInput('src');

const InputPath = (example: string) => Text(example, { minLength: 1, maxLength: 1024 });

export const Changes = Type.Array(
  Body(
    {
      path: InputPath('src/app.js'),
      content: Type.Optional(
        Nullable(
          Type.String({
            examples: ['export const answer = 42;\n'],
            description: 'null deletes. Optional with renameFrom or executable.',
          }),
        ),
      ),
      encoding: Type.Optional(Enum(['utf8', 'base64'])),
      executable: Type.Optional(Type.Boolean()),
      renameFrom: Type.Optional(InputPath('src/old.js')),
    },
    { examples: [{ path: 'src/app.js', content: 'export const answer = 42;\n' }] },
  ),
  { title: 'SourceChanges', minItems: 1, maxItems: 10_000 },
);

export const FilesInput = Type.Array(
  Body({
    path: InputPath('src/index.ts'),
    content: Text('export {};\n'),
    encoding: Type.Optional(Enum(['utf8', 'base64'], { description: 'utf8 by default.' })),
    executable: Type.Optional(Type.Boolean()),
  }),
  { maxItems: MAX_FILES },
);

/** The body of an import as the document shows it; sources/import/json-import.ts checks it in a worker. */
export const ImportBody = Type.Union([
  Body({
    files: FilesInput,
    parentSourceId: Type.Optional(SourceIdInput),
    message: Type.Optional(MessageInput),
  }),
  Body({
    baseSourceId: IdInput('src', 'Any source of the app.'),
    changes: Changes,
    message: Type.Optional(MessageInput),
  }),
]);
