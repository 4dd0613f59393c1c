/** What is there at the end: the tables' rows, the log, and every head's bytes as they are downloaded. */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createGunzip } from 'node:zlib';
import type pg from 'pg';
import type { Caller } from '../../harness/http.ts';
import { manifestOf, sha256Of, sourceSha256 } from '../../../packages/server/src/trees/manifest.ts';
import { readTar } from '../../../packages/server/src/trees/tar-reader.ts';
import { readLog } from '../lib/log-table.ts';
import type { LoggedEvent } from '../lib/log-table.ts';

export interface ApplyRecord {
  id: string;
  projectId: string;
  threadId: string;
  sequence: number;
  status: string;
  base: string | null;
  draft: string;
  head: string | null;
  result: string | null;
  expectedHead: string | null;
  conflicts: string[];
  error: string | null;
  repairs: number;
  sealed: boolean;
  archived: boolean;
  latest: string;
  active: string | null;
}

export interface HeadRecord {
  projectId: string;
  revision: number;
  sourceId: string;
  applyId: string | null;
  origin: string;
  parents: string[];
  sha256: string;
}

export interface Evidence {
  applies: ApplyRecord[];
  heads: HeadRecord[];
  log: LoggedEvent[];
}

export async function readEvidence(table: pg.Client): Promise<Evidence> {
  const applies = await table.query<ApplyRecord>(`
    select a.id, a.project_id as "projectId", a.thread_id as "threadId", a.sequence::float8 as sequence, a.status, a.base_source_id as base, a.draft_source_id as draft, a.head_source_id as head, a.result_source_id as result,
      a.expected_head_source_id as "expectedHead", a.conflicts, a.error, jsonb_array_length(a.repairs) as repairs, t.sealed_at is not null as sealed, t.archived_at is not null as archived, t.latest_source_id as latest, t.active_apply_id as active
    from applies a join threads t on t.id = a.thread_id order by a.sequence`);
  const heads = await table.query<HeadRecord>(`
    select h.project_id as "projectId", h.revision::float8 as revision, h.source_id as "sourceId", h.apply_id as "applyId", s.origin, s.parent_source_ids as parents, s.sha256
    from head_history h left join sources s on s.id = h.source_id order by h.revision`);
  return { applies: applies.rows, heads: heads.rows, log: await readLog(table) };
}

/** Contents by path, as the archive of a source has them, and its hash as a client computes it. */
export async function download(
  caller: Caller,
  app: string,
  sourceId: string,
): Promise<{ contents: Map<string, Buffer>; sha256: string }> {
  const response = await caller.open(`${app}/sources/${sourceId}/archive`, {
    headers: { accept: 'application/gzip' },
  });
  const contents = new Map<string, Buffer>();
  for await (const entry of readTar(response.pipe(createGunzip())))
    if (entry.kind === 'file') contents.set(entry.path!, await entry.read());
  const files = [...contents].map(([path, bytes]) => ({
    path,
    sha256: sha256Of(bytes),
    byteSize: bytes.length,
    executable: false,
  }));
  return { contents, sha256: sourceSha256(manifestOf(files)) };
}

/**
 * Objects that rows speak of and the store has not, and objects that no row speaks of, so that nothing
 * would ever remove them.
 */
export async function objectFaults(table: pg.Client, dataDir: string): Promise<string[]> {
  const root = join(dataDir, 'objects');
  const stored = new Set(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .filter((key) => !key.startsWith('.')),
  );
  const { rows } = await table.query<{ key: string; committed: boolean }>(
    'select key, committed_at is not null as committed from objects',
  );
  const known = new Set(rows.map(({ key }) => key));
  return [
    ...rows
      .filter(({ key, committed }) => committed && !stored.has(key))
      .map(({ key }) => `the object ${key} is lost`),
    ...[...stored]
      .filter((key) => !known.has(key))
      .map((key) => `the object ${key} is nobody's: it stays for ever`),
  ];
}
