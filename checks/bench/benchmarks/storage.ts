/**
 * What 500 versions of a real history cost in store and database, before and after their packs are merged,
 * compared with one git pack.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { openDatabase } from '../../../packages/server/src/db/database.ts';
import type { Db } from '../../../packages/server/src/db/database.ts';
import { archiveOf, tarOf } from '../../../packages/server/src/sources/contents.ts';
import { manifestOf, sha256Of, sourceSha256 } from '../../../packages/server/src/trees/manifest.ts';
import { readTar } from '../../../packages/server/src/trees/tar-reader.ts';
import { loadTree } from '../../../packages/server/src/sources/load-tree.ts';
import { openLocalStore } from '../../../packages/server/src/storage/local-store.ts';
import type { ObjectStore } from '../../../packages/server/src/storage/object-store.ts';
import { newApp } from '../../harness/apps.ts';
import type { Benchmark, Row, Setup } from '../lib/benchmark.ts';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import { tarGz } from '../../harness/files.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import { packedByGit, readVersions } from '../lib/versions.ts';
import type { FileOfVersion, Versions } from '../lib/versions.ts';

const BUNDLE = 'spinnaker.bundle';
const VERSIONS = 500;
const LIMIT_MS = 60_000;
const RESTORES = 10;
const TABLES = ['sources', 'blobs', 'packs', 'objects'] as const;

export const storageBenchmark: Benchmark = {
  name: 'storage',
  title: 'Storage of 500 versions of a real history',
  async run(setup) {
    const versions = await readVersions(BUNDLE, setup.quick ? 120 : VERSIONS, setup.scratch);
    setup.atEnd(() => versions.close());
    const git = await packedByGit(BUNDLE, versions, setup.scratch);
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const handle = openDatabase({ connectionString: database.url });
    setup.atEnd(() => handle.close());
    // Without a worker nothing is merged.
    let service = await startServiceOn(setup, database, { HEADRACE_ROLES: 'api' });
    const app = await newApp(service);
    const sources = await storeAll(setup, service, app, versions);
    const place: Place = {
      db: handle.db,
      pool: handle.pool,
      store: await openLocalStore(join(service.dataDir, 'objects')),
      projectId: app.split('/').at(-1)!,
    };
    const before = await measure(place, service, app, sources);
    await service.stop();
    // What was merged goes as soon as it may.
    service = await startServiceOn(
      setup,
      database,
      { HEADRACE_ROLES: 'api,worker', HEADRACE_CLEANUP_GRACE_SECONDS: '4' },
      [],
      service,
    );
    await untilMerged(setup, place);
    const after = await measure(place, service, app, sources);
    await checkAll(setup, place, sources);
    const count = sources.length;
    const perVersion = (bytes: number) => bytes / count / 1024;
    const rows = [
      ...rowsOf('as stored', before, count),
      ...rowsOf('packs merged', after, count),
      row('git repack -ad: pack and index, per version', perVersion(git.repack)),
      row('git gc --aggressive: pack and index, per version', perVersion(git.aggressive)),
    ];
    return {
      rows,
      aims: [
        {
          what: 'packs merged, of git repack -ad',
          bound: 'most',
          limit: 3,
          value: (after.objectBytes + after.rowBytes) / git.repack,
          unit: '×',
        },
        {
          what: 'objects alone, of git repack -ad',
          bound: 'most',
          limit: 3,
          value: after.objectBytes / git.repack,
          unit: '×',
        },
      ],
      notes: [
        `${count} commits, ${sources.at(-1)!.files} files in the newest. Objects: their length. Rows: the tables ${TABLES.join(', ')} in a database that contains nothing else: columns and row headers with their indexes, which are as large as after \`VACUUM FULL\`. They include who stored what and when, as git's pack includes its commits.`,
        '',
        '| KiB | objects | rows | indexes of rows |',
        '| --- | ---: | ---: | ---: |',
        tableRow('as stored', before),
        tableRow('packs merged', after),
        '',
        '| rows and indexes, KiB | as stored | packs merged |',
        '| --- | ---: | ---: |',
        ...TABLES.map((table) => `| ${table} | ${kib(before.tables[table])} | ${kib(after.tables[table])} |`),
        '',
        'Every content of every version was read and hashed after the merge, and each version had the `sha256` of what was sent.',
      ],
    };
  },
};

interface Stored {
  id: string;
  sha256: string;
  files: number;
}

interface Place {
  db: Db;
  pool: pg.Pool;
  store: ObjectStore;
  projectId: string;
}

async function storeAll(setup: Setup, service: Service, app: string, versions: Versions): Promise<Stored[]> {
  const sources: Stored[] = [];
  for (const [i, { tree, parent }] of versions.commits.entries()) {
    const files = await versions.filesOf(tree);
    const query = parent === null ? '' : `?parentSourceId=${sources[parent]!.id}`;
    const { body } = await service.call('POST', `${app}/sources${query}`, await tarGz(files), {
      contentType: 'application/gzip',
    });
    const expected = hashOf(files);
    if (body.source.sha256 !== expected)
      throw new Error(`Version ${i} has the hash ${String(body.source.sha256)}, not ${expected}`);
    sources.push({ id: body.source.id, sha256: expected, files: files.length });
    if (i % 100 === 99) setup.say(`${i + 1} versions stored`);
  }
  return sources;
}

const hashOf = (files: readonly FileOfVersion[]): string =>
  sourceSha256(
    manifestOf(
      files.map(({ path, content, executable }) => ({
        path,
        sha256: sha256Of(content),
        byteSize: content.length,
        executable,
      })),
    ),
  );

interface Measured {
  objects: number;
  objectBytes: number;
  rowBytes: number;
  indexBytes: number;
  tables: Record<string, number>;
  reads: number;
  restores: number[];
}

async function measure(
  { db, pool, store, projectId }: Place,
  service: Service,
  app: string,
  sources: Stored[],
): Promise<Measured> {
  const measured: Measured = {
    objects: 0,
    objectBytes: 0,
    rowBytes: 0,
    indexBytes: 0,
    tables: {},
    reads: 0,
    restores: [],
  };
  for await (const { byteSize } of store.list(`projects/${projectId}/`)) {
    measured.objects++;
    measured.objectBytes += byteSize;
  }
  for (const table of TABLES) {
    await pool.query(`vacuum full ${table}`);
    const {
      rows: [size],
    } = await pool.query<{ rows: string; indexes: string }>(
      `select coalesce(sum(pg_column_size(t.*)), 0) as rows, pg_indexes_size('${table}') as indexes from ${table} t`,
    );
    measured.tables[table] = Number(size!.rows) + Number(size!.indexes);
    measured.rowBytes += measured.tables[table];
    measured.indexBytes += Number(size!.indexes);
  }
  const newest = sources.at(-1)!;
  const counting = Object.assign(Object.create(store) as ObjectStore, {
    getRange: (key: string, start: number, end: number) => {
      measured.reads++;
      return store.getRange(key, start, end);
    },
  });
  await archiveOf({ db, store: counting }, projectId, await loadTree({ db }, newest.id)).toArray();
  for (let i = 0; i < RESTORES; i++)
    measured.restores.push(await restored(service, `${app}/sources/${newest.id}/archive`));
  return measured;
}

async function restored(service: Service, path: string): Promise<number> {
  const from = performance.now();
  const response = await service.open(path);
  for await (const _ of response);
  return performance.now() - from;
}

/** Until there is nothing left to merge and the merged objects are gone. */
async function untilMerged(setup: Setup, { pool, store, projectId }: Place): Promise<void> {
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline; await sleep(200)) {
    const {
      rows: [left],
    } = await pool.query<{ small: string; jobs: string }>(
      'select (select count(*) from packs) as small, (select count(*) from jobs) as jobs',
    );
    if (Number(left!.small) >= 32 || Number(left!.jobs) > 0) continue;
    await pool.query('update objects set delete_after = now() where delete_after > now()');
    let objects = 0;
    for await (const _ of store.list(`projects/${projectId}/`)) objects++;
    if (objects === Number(left!.small)) return setup.say(`packs merged: ${objects} left`);
  }
  throw new Error('The packs were not merged in time.');
}

async function checkAll(setup: Setup, { db, store, projectId }: Place, sources: Stored[]): Promise<void> {
  for (const { id, sha256 } of sources) {
    const found = await hashOfTar(tarOf({ db, store }, projectId, await loadTree({ db }, id)));
    if (found !== sha256) throw new Error(`${id} has the contents of ${found}, not ${sha256}`);
  }
  setup.say(`${sources.length} versions checked`);
}

async function hashOfTar(tar: Readable): Promise<string> {
  const files: FileOfVersion[] = [];
  for await (const entry of readTar(tar))
    if (entry.kind === 'file')
      files.push({ path: entry.path!, executable: entry.executable, content: await entry.read() });
  return hashOf(files);
}

const row = (what: string, value: number, unit: Row['unit'] = 'KiB'): Row => ({
  what,
  unit,
  figures: summarize([value]),
});

function rowsOf(when: string, m: Measured, count: number): Row[] {
  return [
    row(`${when}: objects, per version`, m.objectBytes / count / 1024),
    row(`${when}: rows, per version`, m.rowBytes / count / 1024),
    row(`${when}: both, per version`, (m.objectBytes + m.rowBytes) / count / 1024),
    row(`${when}: number of objects`, m.objects, 'objects'),
    row(`${when}: range reads of a restore of the newest`, m.reads, 'reads'),
    { what: `${when}: GET archive of the newest`, unit: 'ms', figures: summarize(m.restores) },
  ];
}

const kib = (bytes: number | undefined) => ((bytes ?? 0) / 1024).toFixed(0);
const tableRow = (when: string, m: Measured) =>
  `| ${when} | ${kib(m.objectBytes)} | ${kib(m.rowBytes - m.indexBytes)} | ${kib(m.indexBytes)} |`;
