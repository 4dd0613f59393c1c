import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { ProjectRow } from '../db/schema.ts';
import { createBareRepository } from '../git/bare-repository.ts';
import { runGit } from '../git/run-git.ts';
import { newId } from '../ids.ts';
import type { OpenRepository, Provider } from '../scm/index.ts';
import { commitStaged, stageBlobs } from '../sources/index.ts';
import { makeProject, openTestContext, treeOf } from '../sources/sources.fixture.ts';
import type { Entry, Tree } from '../trees/tree.ts';
import { buildCommit } from './build-commit.ts';
import type { KeptAsideChange } from './merge-kept-aside.ts';

const CONTENTS = ['one', 'two', 'three', ''];
const byContent = new Map(
  CONTENTS.map((text): [string, Entry] => [text, treeOf({ f: text }).tree.get('f')!]),
);

let ctx: Context, project: ProjectRow, close: () => Promise<void>, dir: string, repository: OpenRepository;
beforeAll(async () => {
  const opened = await openTestContext();
  close = opened.close;
  const dataDir = await mkdtemp(join(tmpdir(), 'headrace-build-'));
  ctx = {
    ...opened.ctx,
    config: {
      dataDir,
      scm: { commit: { name: 'Headrace', email: 'headrace@localhost', coAuthors: false, signingKey: null } },
    },
  } as unknown as Context;
  project = await makeProject(opened.ctx, 'direct');
  const { blobs } = treeOf(Object.fromEntries(CONTENTS.map((text, i) => [String(i), text])));
  const staged = await stageBlobs(opened.ctx, project, blobs);
  await transaction(opened.ctx, (tx) => commitStaged(tx, project, staged));
  const id = newId('repo');
  dir = join(dataDir, 'git-cache', `${id}.git`);
  await createBareRepository(dir, { defaultBranch: 'main' });
  repository = {
    provider: { commitAuthor: async () => null } satisfies Partial<Provider> as unknown as Provider,
    at: { repository: { id } } as OpenRepository['at'],
  };
});
afterAll(async () => {
  await close();
  await rm(ctx.config.dataDir, { recursive: true, force: true });
});

/** Path (latin1) → `<mode> <id>`, as a tree has it. */
type Raw = Map<string, string>;

function write(type: string, body: Buffer): string {
  const bytes = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
  const id = createHash('sha1').update(bytes).digest('hex');
  const file = join(dir, 'objects', id.slice(0, 2), id.slice(2));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, deflateSync(bytes));
  return id;
}

/** A tree exactly as given: git's own commands would make its modes canonical and refuse some names. */
function writeTree(raw: Raw): string {
  const folders = new Map<string, Raw>();
  const entries: { name: string; line: string; id: string }[] = [];
  for (const [path, entry] of raw) {
    const slash = path.indexOf('/');
    const [mode, id] = entry.split(' ');
    if (slash < 0) entries.push({ name: path, line: `${mode} ${path}\0`, id: id! });
    else {
      const folder = folders.get(path.slice(0, slash)) ?? new Map<string, string>();
      folders.set(path.slice(0, slash), folder.set(path.slice(slash + 1), entry));
    }
  }
  for (const [name, folder] of folders)
    entries.push({ name: `${name}/`, line: `40000 ${name}\0`, id: writeTree(folder) });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return write(
    'tree',
    Buffer.concat(entries.flatMap(({ line, id }) => [Buffer.from(line, 'latin1'), Buffer.from(id, 'hex')])),
  );
}

async function readTree(id: string, prefix = ''): Promise<Raw> {
  const { output } = await runGit(dir, ['cat-file', 'tree', id]);
  const raw: Raw = new Map();
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(0, at);
    const [, mode, name] = /^(\d+) (.*)$/s.exec(output.toString('latin1', at, end))!;
    const child = output.toString('hex', end + 1, end + 21);
    if (mode === '40000') for (const one of await readTree(child, `${prefix}${name}/`)) raw.set(...one);
    else raw.set(prefix + name!, `${mode} ${child}`);
    at = end + 21;
  }
  return raw;
}

const blob = (text: string) => write('blob', Buffer.from(text));
const latin1 = (path: string) => Buffer.from(path).toString('latin1');

function commitOf(raw: Raw): string {
  const who = 'A <a@b> 1 +0000';
  return write('commit', Buffer.from(`tree ${writeTree(raw)}\nauthor ${who}\ncommitter ${who}\n\nBase\n`));
}

async function built(
  parents: string[],
  from: Tree,
  to: Tree,
  keptAside: KeptAsideChange[] = [],
): Promise<Raw> {
  const commit = {
    projectId: project.id,
    parents,
    from,
    to,
    keptAside,
    message: 'Change\n',
    authoredAt: new Date(0),
  };
  const id = await buildCommit(ctx, repository, commit);
  expect(await buildCommit(ctx, repository, commit)).toBe(id);
  return readTree(`${id}^{tree}`);
}

const FILES = ['a', 'b/c', 'b/d', 'dir/deep/x', 'dir/y', 'ä b', '"q"', 'readme'];
/** What no source can hold, and where drafts may get into its way. */
const KEPT = [
  'link',
  'b/link',
  'dir/deep/link',
  'sub',
  '.git/config',
  '.hoplite/x',
  'dir/.GIT',
  'git~1',
  'Readme',
  'b/back\\slash',
];
const INVALID = Buffer.from([0x64, 0x2f, 0xff, 0x0a]).toString('latin1');
const DRAFT = [...FILES, 'link', 'link/below', 'dir', 'sub/x', 'b/link/x/y', 'new', 'dir/deep'];

const files = fc.dictionary(
  fc.constantFrom(...FILES),
  fc.record({ content: fc.constantFrom(...CONTENTS), mode: fc.constantFrom('100644', '100755', '100664') }),
);
const kept = fc.dictionary(
  fc.constantFrom(...KEPT, INVALID),
  fc.record({
    content: fc.constantFrom(...CONTENTS),
    mode: fc.constantFrom('120000', '160000', '100644', '100664'),
  }),
);
const draft = fc.dictionary(
  fc.constantFrom(...DRAFT),
  fc.record({ content: fc.constantFrom(...CONTENTS), executable: fc.boolean() }),
);

const isInTheWay = (path: string, other: string) =>
  path === other || path.startsWith(`${other}/`) || other.startsWith(`${path}/`);

test('what no source can hold survives every commit byte for byte, unless a file takes its place', async () => {
  await fc.assert(
    fc.asyncProperty(files, kept, draft, fc.boolean(), async (base, aside, changed, isKept) => {
      const raw: Raw = new Map();
      const from = new Map<string, Entry>();
      for (const [path, { content, mode }] of Object.entries(base)) {
        raw.set(latin1(path), `${mode} ${blob(content)}`);
        from.set(path, { ...byContent.get(content)!, executable: mode === '100755' });
      }
      for (const [path, { content, mode }] of Object.entries(aside))
        if (![...raw.keys()].some((other) => isInTheWay(path, other)))
          raw.set(path, `${mode} ${blob(content)}`);
      const to = new Map<string, Entry>(isKept ? from : []);
      for (const [path, { content, executable }] of Object.entries(changed)) {
        for (const other of to.keys()) if (other !== path && isInTheWay(path, other)) to.delete(other);
        to.set(path, { ...byContent.get(content)!, executable });
      }
      const expected: Raw = new Map();
      for (const [path, entry] of raw)
        if (
          !from.has(Buffer.from(path, 'latin1').toString()) &&
          ![...to.keys()].some((file) => isInTheWay(path, latin1(file)))
        )
          expected.set(path, entry);
      for (const [path, { sha256, executable }] of to) {
        const old = from.get(path);
        const isSame = old?.sha256 === sha256 && old.executable === executable;
        const text = CONTENTS.find((one) => byContent.get(one)!.sha256 === sha256)!;
        expected.set(
          latin1(path),
          isSame ? raw.get(latin1(path))! : `${executable ? '100755' : '100644'} ${blob(text)}`,
        );
      }
      const sorted = (one: Raw) => [...one].sort(([a], [b]) => (a < b ? -1 : 1));
      expect(sorted(await built([commitOf(raw)], from, to))).toEqual(sorted(expected));
    }),
    { numRuns: 20 },
  );
});

test("a merge takes the other side's entries, and files take their place", async () => {
  const raw: Raw = new Map([
    ['f', `100644 ${blob('one')}`],
    ['gone', `120000 ${blob('f')}`],
    ['stays', `120000 ${blob('f')}`],
  ]);
  const from = treeOf({ f: 'one' }).tree;
  const to = treeOf({ f: 'two', 'taken/x': 'three' }).tree;
  const parent = commitOf(raw);
  const keptAside = ['gone', 'link', 'taken'].map((path) => ({
    path: Buffer.from(path),
    entry: path === 'gone' ? null : { mode: '120000', id: blob('three') },
  }));
  expect(await built([parent, commitOf(new Map())], from, to, keptAside)).toEqual(
    new Map([
      ['f', `100644 ${blob('two')}`],
      ['link', `120000 ${blob('three')}`],
      ['stays', `120000 ${blob('f')}`],
      ['taken/x', `100644 ${blob('three')}`],
    ]),
  );
});

test('a content that is in no pack makes no commit', async () => {
  const to = treeOf({ f: 'never stored' }).tree;
  await expect(built([commitOf(new Map())], new Map(), to)).rejects.toMatchObject({
    code: 'source_storage_unavailable',
  });
});
