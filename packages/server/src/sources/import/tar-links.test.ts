/** Links of archives, compared with what tar unpacks and the kernel resolves. */
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { tarFixture, type FixtureEntry } from '../../trees/tar.fixture.ts';
import { parseTarGz } from './tar-import.ts';
import type { Links } from './tar-links.ts';

const scratch = mkdtempSync(join(tmpdir(), 'headrace-links-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const file = (path: string, content = path, mode = 0o644): FixtureEntry => ({
  path,
  content,
  mode,
  pax: { path },
});
const folder = (path: string): FixtureEntry => ({ path: `${path}/`, type: '5', mode: 0o755 });
const symlink = (path: string, link: string): FixtureEntry => ({
  path,
  type: '2',
  link,
  pax: { path, linkpath: link },
});
const hardlink = (path: string, link: string): FixtureEntry => ({ path, type: '1', link });

interface Result {
  files: Record<string, [string, boolean]>;
  warned: string[];
}

const parse = (entries: FixtureEntry[], links: Links = 'follow') =>
  parseTarGz(gzipSync(tarFixture(entries), { level: 1 }), links);

async function followed(entries: FixtureEntry[]): Promise<Result> {
  const result = await parse(entries);
  if (!result.ok) throw new Error(JSON.stringify(result.fields));
  return {
    files: sorted(result.files.map((f) => [f.path, [f.bytes.toString(), f.executable]])),
    warned: result.warnings.map((w) => w.path).toSorted(),
  };
}

async function faults(entries: FixtureEntry[], links: Links = 'follow') {
  const result = await parse(entries, links);
  return result.ok ? [] : result.fields.map((f) => [f.path, f.message.split(':')[0]!]);
}

const sorted = (files: [string, [string, boolean]][]) =>
  Object.fromEntries(files.toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** What the archive is on a disk. Hard links follow their targets in `entries`. */
function unpacked(entries: FixtureEntry[]): Result {
  const root = mkdtempSync(join(scratch, 'root-'));
  execFileSync('tar', ['-xPf', '-', '-C', root], { input: tarFixture(entries) });
  const files: Result['files'] = {};
  const warned: string[] = [];
  const links = linksIn(root);
  const isLeftOut = new Map(links.map((link) => [link, leadsNowhere(root, link) || isEndless(root, link)]));
  const visit = (path: string) => {
    if (Object.keys(files).length > 2_000) throw new fc.PreconditionFailure();
    if (
      isLeftOut.get(
        join(
          lookUp(() => realpathSync.native(dirname(path)))!,
          basename(path),
        ),
      )
    )
      return;
    const real = lookUp(() => realpathSync.native(path));
    if (real === null) {
      warned.push(relative(root, path));
      return;
    }
    const stat = statSync(real);
    if (stat.isDirectory()) for (const name of readdirSync(real)) visit(join(path, name));
    else files[relative(root, path)] = [readFileSync(real, 'utf8'), (stat.mode & 0o100) !== 0];
  };
  visit(root);
  warned.push(...links.filter((link) => isLeftOut.get(link)).map((link) => relative(root, link)));
  rmSync(root, { recursive: true });
  return { files: sorted(Object.entries(files)), warned: [...new Set(warned)].toSorted() };
}

/** Null beyond as many links as the kernel follows. It counts those of a look-up that it repeats twice. */
function lookUp<T>(read: () => T): T | null {
  for (let attempt = 1; ; attempt++)
    try {
      return read();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ELOOP') throw error;
      if (attempt === 20) return null;
    }
}

const linksIn = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const stat = lstatSync(path);
    return stat.isSymbolicLink() ? [path] : stat.isDirectory() ? linksIn(path) : [];
  });

function leadsNowhere(root: string, link: string): boolean {
  try {
    return !`${lookUp(() => realpathSync.native(link))}/`.startsWith(`${root}/`);
  } catch {
    return true;
  }
}

/** Whether a copy of what the link leads to would need the link again. */
function isEndless(root: string, link: string): boolean {
  const seen = new Set<string>();
  const pending = [link];
  while (pending.length > 0) {
    const at = pending.pop()!;
    if (leadsNowhere(root, at) || !lookUp(() => statSync(at))!.isDirectory()) continue;
    for (const inside of linksIn(lookUp(() => realpathSync.native(at))!)) {
      if (inside === link) return true;
      if (!seen.has(inside)) pending.push(inside);
      seen.add(inside);
    }
  }
  return false;
}

const chain = (length: number, name: string, end: string) =>
  Array.from({ length }, (_, i) => symlink(`${name}${i}`, i + 1 < length ? `${name}${i + 1}` : end));
/** Folders, each with a link to the next. */
const nested = (length: number) =>
  Array.from({ length }, (_, i) => [
    file(`d${i}/file`),
    ...(i + 1 < length ? [symlink(`d${i}/n`, `../d${i + 1}`)] : []),
  ]).flat();

describe('followed as on a disk', () => {
  test.each<[string, FixtureEntry[]]>([
    ['to a file, by all ways', [file('d/x', 'x', 0o755), symlink('a', 'd/x'), symlink('e/b', '../d/./x')]],
    ['to folders with folders', [file('d/e/x'), folder('d/none'), symlink('l', 'd'), symlink('k', 'l/e/')]],
    ['to an empty folder', [folder('d'), symlink('l', 'd'), file('x')]],
    ['with a slash behind a file', [file('x'), symlink('l', 'x/'), symlink('m', 'x/.')]],
    ['over a missing folder', [file('x'), symlink('l', 'none/../x')]],
    ['40 and 41 in a row', [file('end'), ...chain(40, 'c', 'end'), ...chain(41, 'd', 'end')]],
    ['folders nested too deep', nested(50)],
    ['into each other', [file('a/x'), file('b/y'), symlink('a/l', '../b'), symlink('b/m', '../a')]],
    ['to a folder in which links lead up', [file('a/x'), symlink('a/up', '..'), symlink('l', 'a')]],
    [
      'through a link that is left out',
      [file('x'), file('a/y'), symlink('a/up', '..'), symlink('l', 'a/up/x')],
    ],
    ['hard links to links', [file('x'), symlink('l', 'x'), hardlink('d/m', 'l'), file('d/x', 'other')]],
    [
      'hard links in rows',
      [file('x', 'x', 0o755), hardlink('y', 'x'), hardlink('z', 'y'), symlink('l', 'z')],
    ],
  ])('%s', async (_what, entries) => expect(await followed(entries)).toEqual(unpacked(entries)));

  test('whatever links, folders and orders', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const name = fc.constantFrom(...names);
    const path = fc.array(name, { minLength: 1, maxLength: 3 });
    const step = fc.constantFrom(...names, '..', '..', '.', '');
    const target = fc.oneof(
      { weight: 4, arbitrary: fc.nat(30) },
      fc.array(step, { minLength: 1, maxLength: 5 }).map((steps) => steps.join('/')),
      fc.constantFrom('/a', '/etc/passwd', 'a/b/', '.', '..'),
    );
    const kind = fc.constantFrom('file', 'file', 'folder', 'symlink', 'symlink', 'symlink', 'hardlink');
    const entry = fc.record({ kind, path, target, isExecutable: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 3, maxLength: 25 }),
        fc.infiniteStream(fc.nat()),
        async (drafts, order) => {
          const entries = archiveOf(drafts);
          const weights = new Map(entries.map((e) => [e, order.next().value]));
          const shuffled = entries.toSorted((a, b) => weights.get(a)! - weights.get(b)!);
          expect(await followed(shuffled)).toEqual(unpacked(entries));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('hard links are files', () => {
  const archive = [hardlink('early', 'x'), file('x', 'x', 0o755), hardlink('./late', './early')];
  test.each<Links>(['refuse', 'skip', 'follow'])('with links=%s', async (links) => {
    const result = await parse(archive, links);
    expect(result.ok && result.files.map((f) => [f.path, f.bytes.toString(), f.executable])).toEqual([
      ['early', 'x', true],
      ['x', 'x', true],
      ['late', 'x', true],
    ]);
  });

  test.each(['none', '../x', '/x', 'd', 'own', 'l/x', ''])('unless they lead to %j', async (target) => {
    const entries = [file('d/x'), folder('d'), symlink('l', 'd'), hardlink('own', target)];
    expect(await faults(entries)).toEqual([
      ['/files/3/path', `"own" is a hard link to "${target}", which is no file of the archive`],
    ]);
  });

  test('rings of them lead to nothing, in no time', async () => {
    const ring = Array.from({ length: 9_000 }, (_, i) => hardlink(`r${i}`, `r${(i + 1) % 9_000}`));
    const began = performance.now();
    expect((await faults(ring)).length).toBe(100);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test('one whose target was not read is not named', async () => {
    const over = Array.from({ length: 20_000 }, (_, i) => file(`f${i}`, ''));
    expect(await faults([hardlink('l', 'end'), ...over, file('end')])).toEqual([
      ['/files', 'A source holds at most 10000 files.'],
    ]);
  });
});

describe('symbolic links', () => {
  const archive = [symlink('a/l', '../x'), file('x'), symlink('out', '/etc'), hardlink('m', 'a/l')];

  test('are named with what they lead to', async () =>
    expect(await faults(archive, 'refuse')).toEqual([
      ['/files/0/path', '"a/l" is a symbolic link to "../x"'],
      ['/files/2/path', '"out" is a symbolic link to "/etc"'],
      ['/files/3/path', '"m" is a symbolic link to "../x"'],
    ]));

  test('are left out, whatever their names, and a thousand are warned of', async () => {
    const many = Array.from({ length: 1_200 }, (_, i) => symlink(`l${i}`, 'x'));
    const result = await parse([...archive, symlink('.git/l', 'x'), ...many], 'skip');
    if (!result.ok) throw new Error('refused');
    expect(result.files.map((f) => f.path)).toEqual(['x']);
    expect([result.warnings.length, ...result.warnings.slice(0, 4).map((w) => w.path)]).toEqual([
      1_000,
      'a/l',
      'out',
      'm',
      '.git/l',
    ]);
  });

  test('are named in warnings no further than a path goes', async () => {
    const result = await parse([file('x'), symlink('d'.repeat(100_000), 'x')], 'skip');
    if (!result.ok) throw new Error('refused');
    expect(result.warnings).toEqual([{ path: `${'d'.repeat(1_024)}…`, reason: 'symbolic link' }]);
  });

  test('are found by their long names', async () => {
    const long = `${'d'.repeat(120)}/${'e'.repeat(90)}`;
    const entries = [
      file('x'),
      { ...symlink('l', 'cut'), pax: { linkpath: `../${long}/../x`, path: `${long}/p` } },
      { path: '././@LongLink', type: 'K', content: `${'../'.repeat(60)}x\0` },
      symlink('m', '..'),
    ];
    const result = await parse(entries);
    expect(result.ok && result.warnings).toEqual([
      { path: `${long}/p`, reason: 'leads to no file or folder of the archive' },
      { path: 'm', reason: 'leads out of the archive' },
    ]);
  });

  test('keep the rules as copies', async () => {
    const long = `${'n'.repeat(200)}/`.repeat(5);
    expect(
      await faults([
        file('x'),
        file('Name'),
        symlink('name', 'x'),
        symlink('.git/x', 'x'),
        symlink('x', 'Name'),
        file('d/x'),
        symlink('d', '.git'),
        symlink('d', 'Name'),
        file(`${long}x`),
        symlink('m'.repeat(230), 'n'.repeat(200)),
      ]),
    ).toEqual([
      ['/files/2/path', '"name" is the path of an earlier file (ignoring case)'],
      ['/files/3/path', '".git/x" must not use a reserved name (.git, .context, .hoplite)'],
      ['/files/4/path', '"x" is the path of another file or folder'],
      ['/files/7/path', '"d" is the path of another file or folder'],
      ['/files/9/path', `"${'m'.repeat(230)}${long.slice(200, 994)}…" must have at most 1024 characters`],
    ]);
  });

  test('that multiply each other end soon', async () => {
    const doubled = (leaf: FixtureEntry) => [
      leaf,
      ...Array.from({ length: 30 }, (_, i) => [
        symlink(`d${i}/a`, `../d${i + 1}`),
        symlink(`d${i}/b`, `../d${i + 1}`),
      ]).flat(),
    ];
    const began = performance.now();
    expect(await faults(doubled(file('d30/x')))).toEqual([['/files', 'A source holds at most 10000 files.']]);
    expect(await faults(doubled(folder('d30')))).toEqual([
      ['/files', 'The links of the archive lead to each other too often to be followed.'],
    ]);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

interface Draft {
  kind: string;
  path: string[];
  target: number | string;
  isExecutable: boolean;
}

/** Entries of different paths, none below a file or a link. A number is a target among those before. */
function archiveOf(drafts: readonly Draft[]): FixtureEntry[] {
  const kinds = new Map<string, string>();
  const entries: FixtureEntry[] = [];
  for (const { kind, path, target, isExecutable } of drafts) {
    const whole = path.join('/');
    const above = path.slice(1).map((_, i) => path.slice(0, i + 1).join('/'));
    if (kinds.has(whole) || above.some((p) => !['folder', undefined].includes(kinds.get(p)))) continue;
    const linkable = entries.filter((e) => e.type !== '5');
    const earlier = entries[Number(target) % entries.length];
    const text =
      typeof target === 'string'
        ? target || '.'
        : relative(dirname(`/${whole}`), `/${String(earlier?.path ?? 'a')}`) || '.';
    if (kind === 'hardlink') {
      if (linkable.length === 0) continue;
      entries.push(hardlink(whole, String(linkable[path.length % linkable.length]!.path)));
    } else if (kind === 'symlink') entries.push(symlink(whole, text));
    else if (kind === 'folder') entries.push(folder(whole));
    else entries.push(file(whole, whole, isExecutable ? 0o755 : 0o644));
    for (const p of above) kinds.set(p, 'folder');
    kinds.set(whole, kind);
  }
  return entries;
}
