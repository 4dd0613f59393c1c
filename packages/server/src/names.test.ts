/**
 * The rules of the layout: an operation's name is its address, domains meet only at their index.ts, and
 * import each other in one direction. checks/structure finds circles of files.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importCircles } from '../../../checks/structure/figures.ts';
import { routes } from './app.ts';

const ROOT = import.meta.dirname;
const INFRASTRUCTURE = new Set([
  'console',
  'db',
  'git',
  'http',
  'jobs',
  'limits',
  'merge',
  'metrics',
  'receipts',
  'runner',
  'storage',
  'trees',
]);

interface Import {
  /** Path from src, with `/`. */
  to: string;
  typeOnly: boolean;
}

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
  .map((file) => file.split(sep).join('/'));
const code = files.filter((file) => !isTest(file));
const imports = new Map(code.map((file) => [file, importsOf(file)]));

/** Tests and what only they use. */
function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file.endsWith('.fixture.ts');
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const statements = text.matchAll(
    /^(?:import|export)\s+(type\s)?(?:[\w*\s{},]+?\sfrom\s+)?'(\.[^']+)'|\bimport\('(\.[^']+)'\)|new URL\('(\.[^']+\.ts)', import\.meta\.url\)/gm,
  );
  return [...statements].map(([, type, from, dynamic, worker]) => ({
    to: relative(ROOT, resolve(ROOT, dirname(file), (from ?? dynamic ?? worker)!))
      .split(sep)
      .join('/'),
    typeOnly: type !== undefined,
  }));
}

const domainOf = (file: string) => (file.includes('/') ? file.split('/')[0]! : null);
const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const edges = () => [...imports].flatMap(([file, all]) => all.map((one) => ({ file, ...one })));

test('pools are made where their broken connections are heard: unheard, one ends the process', () => {
  expect(code.filter((file) => /new (pg\.)?Pool\(/.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([
    'db/database.ts',
  ]);
});

test('the reader of imports sees them', () => {
  expect(code.length).toBeGreaterThan(150);
  expect(imports.get('app.ts')!.map((i) => i.to)).toEqual(
    expect.arrayContaining(['accounts/index.ts', 'context.ts', 'http/server.ts']),
  );
  expect(imports.get('app.ts')!.find((i) => i.to === 'context.ts')).toMatchObject({ typeOnly: true });
  expect(edges().filter(({ to }) => to.endsWith('.ts') && !files.includes(to))).toEqual([]);
});

const operations = new Map(routes.map((route) => [route.operation.name, route.operation]));

/**
 * Operations that share their file with a sibling of which they are a variant: the file is named after the
 * other one.
 */
const SHARED: Record<string, string> = {
  'projects.deleteApp': 'projects/delete-project.ts',
  'threads.createDirectThread': 'threads/create-thread.ts',
  'threads.listAllThreads': 'threads/list-threads.ts',
};

function fileOf(name: string): string {
  const [domain, own] = name.split('.') as [string, string];
  return SHARED[name] ?? `${kebab(domain)}/${kebab(own)}.ts`;
}

describe('the name is the address', () => {
  test.each([...operations])('%s', async (name, operation) => {
    const own = name.split('.')[1]!;
    expect(name).toMatch(/^[a-z][A-Za-z]*\.[a-z][A-Za-z]*$/);
    const file = fileOf(name);
    expect(code).toContain(file);
    const exported = (await import(/* @vite-ignore */ new URL(file, import.meta.url).href)) as Record<
      string,
      unknown
    >;
    expect(exported[own]).toBe(operation);
    expect(operation).toMatchObject({ name });
  });

  test('no exception has become needless', () => {
    expect(
      Object.entries(SHARED).filter(
        ([name, file]) =>
          !operations.has(name) || `${name.split('.')[0]}/${kebab(name.split('.')[1]!)}.ts` === file,
      ),
    ).toEqual([]);
  });

  test('operationIds are the name, with a suffix on further paths', () => {
    expect(
      routes
        .filter(
          (r) =>
            ![r.operation.name, `${r.operation.name}.byProject`, `${r.operation.name}.direct`].includes(
              r.operationId,
            ),
        )
        .map((r) => r.operationId),
    ).toEqual([]);
    const ids = routes.map((r) => r.operationId);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  });
});

describe('imports', () => {
  const COMPOSITION = new Set(['app.ts', 'worker.ts']);
  const isDomain = (domain: string | null): domain is string =>
    domain !== null && !INFRASTRUCTURE.has(domain);

  /** What the kernel imports of domains besides types; each with its reason. */
  const ALLOWED: Record<string, string> = {
    'boot.ts → sources/import/pool.ts': "makes the process's one pool",
    'boot.ts → sources/search/pool.ts': "makes the process's one pool",
  };
  const nameOf = (file: string, to: string) =>
    [`${file} → ${to}`, `${domainOf(file)}/ → ${to}`].find((name) => name in ALLOWED);
  const isAllowed = (file: string, to: string) => nameOf(file, to) !== undefined;
  const show = (found: { file: string; to: string }[]) => found.map(({ file, to }) => `${file} → ${to}`);

  test('domains reach other domains only through index.ts', () => {
    const wrong = edges().filter(
      ({ file, to, typeOnly }) =>
        isDomain(domainOf(to)) &&
        domainOf(to) !== domainOf(file) &&
        !COMPOSITION.has(file) &&
        !to.endsWith('/index.ts') &&
        !INFRASTRUCTURE.has(domainOf(file) ?? '') &&
        !(typeOnly && domainOf(file) === null) &&
        !isAllowed(file, to),
    );
    expect(show(wrong)).toEqual([]);
  });

  test('infrastructure knows no domain, but types', () => {
    const wrong = edges().filter(
      ({ file, to, typeOnly }) =>
        INFRASTRUCTURE.has(domainOf(file) ?? '') &&
        isDomain(domainOf(to)) &&
        !typeOnly &&
        !isAllowed(file, to),
    );
    expect(show(wrong)).toEqual([]);
  });

  test('trees, storage, merge, limits, jobs and db know nothing of HTTP', () => {
    const wrong = edges().filter(
      ({ file, to }) =>
        ['trees', 'storage', 'merge', 'limits', 'jobs', 'git', 'db'].includes(domainOf(file) ?? '') &&
        domainOf(to) === 'http',
    );
    expect(show(wrong)).toEqual([]);
  });

  test("no code imports a test's parts", () => {
    expect(show(edges().filter(({ to }) => isTest(to)))).toEqual([]);
  });

  test('settings come from config.ts alone: it is handed the environment by main.ts; others read no more than PATH, for git', () => {
    const readers = code.flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/process\.env\b(?!\['PATH'\])/g)].map(() => file),
    );
    expect(readers).toEqual(['main.ts']);
  });

  test('no exception has become needless', () => {
    const used = new Set(edges().map(({ file, to }) => nameOf(file, to)));
    expect(Object.keys(ALLOWED).filter((one) => !used.has(one))).toEqual([]);
  });

  /** Operations compose domains, so they may import all of them; nothing but routes imports an operation. */
  const OPERATIONS = new Set([...operations.keys()].map(fileOf));
  const isTop = (file: string) => OPERATIONS.has(file) || file.endsWith('/routes.ts');

  test('only routes import operations, and only app.ts imports routes', () => {
    const wrong = edges().filter(({ file, to }) => {
      if (to.endsWith('/routes.ts')) return file !== 'app.ts';
      return OPERATIONS.has(to) && !file.endsWith('/routes.ts');
    });
    expect(show(wrong)).toEqual([]);
  });

  test('rooms import each other in one direction, operations apart', () => {
    const rooms = new Map<string, Set<string>>();
    for (const { file, to } of edges()) {
      const [from, target] = [domainOf(file), domainOf(to)];
      if (from === null || target === null || from === target || isTop(file)) continue;
      rooms.set(from, (rooms.get(from) ?? new Set()).add(target));
    }
    expect(rooms.size).toBeGreaterThan(20);
    expect(importCircles(rooms)).toEqual([]);
  });
});
