/** The figures of the code's structure, from the text of its files alone. */
import { dirname, join } from 'node:path/posix';

/** Text by path from the repository's root, with `/`. */
export type Files = ReadonlyMap<string, string>;

const IMPORT =
  /^(?:import|export)\s+(?:type\s+)?(?:[\w*\s{},]+?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)|new URL\('(\.[^']+\.tsx?)', import\.meta\.url\)/gm;

/**
 * File → the files that it imports, types included. `aliases` maps a package's specifiers to files; `*` stands
 * for a path. Specifiers of other packages are left out.
 */
export function importGraph(files: Files, aliases: ReadonlyMap<string, string>): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const [file, text] of files) {
    const targets = new Set<string>();
    for (const [, from, dynamic, worker] of text.matchAll(IMPORT)) {
      const target = resolveImport(file, (from ?? dynamic ?? worker)!, aliases);
      if (target !== null && files.has(target)) targets.add(target);
    }
    graph.set(file, targets);
  }
  return graph;
}

function resolveImport(file: string, specifier: string, aliases: ReadonlyMap<string, string>): string | null {
  if (specifier.startsWith('.')) return join(dirname(file), specifier);
  for (const [alias, target] of aliases) {
    const [head, tail] = alias.split('*') as [string, string | undefined];
    if (tail === undefined ? specifier === alias : specifier.startsWith(head))
      return target.replace('*', specifier.slice(head.length));
  }
  return null;
}

/** Strongly connected sets of two or more files, the largest first (Tarjan). */
export function importCircles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const index = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const circles: string[][] = [];
  const visit = (file: string): void => {
    const own = index.size;
    index.set(file, own);
    lowest.set(file, own);
    stack.push(file);
    onStack.add(file);
    for (const target of graph.get(file) ?? []) {
      if (!index.has(target)) visit(target);
      if (onStack.has(target)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!));
    }
    if (lowest.get(file) !== own) return;
    const circle = stack.splice(stack.indexOf(file));
    for (const member of circle) onStack.delete(member);
    if (circle.length > 1) circles.push(circle.sort());
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return circles.sort((a, b) => b.length - a.length);
}

const BY_BUILDER = /\b(?:insertInto|updateTable|deleteFrom|mergeInto)\(\s*'(\w+)/g;
const BY_SQL = /\b(?:insert\s+into|delete\s+from|update)\s+(?:only\s+)?([a-z_]+)\b/gi;

/** Table → domain (folder below `root`) → the files there that insert, update or delete its rows. */
export function tableWriters(
  files: Files,
  root: string,
  tables: ReadonlySet<string>,
): Map<string, Map<string, string[]>> {
  const writers = new Map<string, Map<string, string[]>>();
  for (const [file, text] of files) {
    if (!file.startsWith(root)) continue;
    const path = file.slice(root.length);
    const domain = path.includes('/') ? path.slice(0, path.indexOf('/')) : path;
    const written = new Set(
      [...text.matchAll(BY_BUILDER), ...text.matchAll(BY_SQL)].map((match) => match[1]!),
    );
    for (const table of written) {
      if (!tables.has(table)) continue;
      const domains = writers.get(table) ?? new Map<string, string[]>();
      domains.set(domain, [...(domains.get(domain) ?? []), path]);
      writers.set(table, domains);
    }
  }
  return writers;
}

/** The length of line below which `part` (0 to 1) of the lines lie; blank lines do not count. */
export function lineLengthQuantile(files: Files, part: number): number {
  const lengths = [...files.values()]
    .flatMap((text) => text.split('\n'))
    .filter((line) => line.trim() !== '')
    .map((line) => line.length)
    .sort((a, b) => a - b);
  return lengths[Math.floor(lengths.length * part)] ?? 0;
}

/** The tables that the migrations create, in their order; partitions are their parent's. */
export function tablesOf(migrations: readonly string[]): Set<string> {
  const created = migrations.flatMap((sql) => [
    ...sql.matchAll(/^create table (?:if not exists )?(\w+)\b(?! partition)/gm),
  ]);
  return new Set(created.map((match) => match[1]!));
}
