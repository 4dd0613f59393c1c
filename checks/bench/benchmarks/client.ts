/**
 * What the client costs its users: bytes in a page, milliseconds at startup, and how much longer a call takes than a
 * bare fetch. Other SDKs are measured the same way if `npm run test:client` has installed them.
 */
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@headrace/client';
import { stageClient } from '../../../scripts/client-pack.ts';
import { gzippedBundle } from '../../client/bundle.ts';
import { toolsFolder } from '../../client/tools.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark, Row, Setup } from '../lib/benchmark.ts';

const SDKS = ['stripe', '@anthropic-ai/sdk', 'e2b', 'v0-sdk', 'ai'];
const CALLS = 3_000;
const WARM_CALLS = 500;
const IMPORTS = 30;
const KILO = 1_000;

export const clientBenchmark: Benchmark = {
  name: 'client',
  title: 'The client: bytes, imports and calls',
  async run(setup) {
    const stage = join(setup.scratch, 'stage');
    await stageClient(stage);
    const dist = join(stage, 'dist');
    const whole = await gzippedBundle('./index.js', dist);
    const events = await gzippedBundle('./events/index.js', dist);
    const imports = summarize(importTimes(pathToFileURL(join(dist, 'index.js')).href, stage, setup));
    const others = await sdkRows(setup);
    const calls = await callTimes(setup);
    return {
      rows: [
        { what: '@headrace/client in a page, gzipped', unit: 'kB', figures: summarize([whole / KILO]) },
        { what: 'of it, events alone', unit: 'kB', figures: summarize([events / KILO]) },
        { what: '@headrace/client imported in a new process', unit: 'ms', figures: imports },
        ...others.rows,
        { what: 'apps.get on a server that does nothing', unit: 'ms', figures: calls.client },
        { what: 'the same by a bare fetch', unit: 'ms', figures: calls.bare },
      ],
      aims: [
        { what: 'in a page, gzipped', bound: 'most', limit: 13, value: whole / KILO, unit: 'kB' },
        { what: 'events alone, gzipped', bound: 'most', limit: 5, value: events / KILO, unit: 'kB' },
        { what: 'import, median', bound: 'most', limit: 15, value: imports.median, unit: 'ms' },
        {
          what: 'a call, over a bare fetch (medians)',
          bound: 'most',
          limit: 0.3,
          value: calls.client.median - calls.bare.median,
          unit: 'ms',
        },
      ],
      notes: others.notes,
    };
  },
};

async function sdkRows(setup: Setup): Promise<{ rows: Row[]; notes: string[] }> {
  const folder = toolsFolder();
  if (folder === null)
    return {
      rows: [],
      notes: ['To measure other SDKs, run `npm run test:client` first, which installs them.'],
    };
  const rows: Row[] = [];
  const notes: string[] = [];
  for (const name of SDKS) {
    try {
      const bytes = await gzippedBundle(name, folder);
      rows.push({ what: `${name} in a page, gzipped`, unit: 'kB', figures: summarize([bytes / KILO]) });
    } catch {
      notes.push(`${name} cannot be bundled for a page: it imports modules of Node.`);
    }
    const figures = summarize(importTimes(name, folder, setup));
    rows.push({ what: `${name} imported in a new process`, unit: 'ms', figures });
  }
  return { rows, notes };
}

/** In a process that has loaded nothing else, with the files in the page cache. */
function importTimes(module: string, cwd: string, { quick }: Setup): number[] {
  const code = `const from = performance.now(); await import(${JSON.stringify(module)}); console.log(performance.now() - from);`;
  return Array.from({ length: quick ? 3 : IMPORTS }, () =>
    Number(
      execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
        cwd,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] },
      }),
    ),
  );
}

/** In turns, with the same connection pool, in the event loop of the server. */
async function callTimes({ quick, atEnd }: Setup) {
  const app = { id: 'app', name: 'Benchmark', metadata: {} };
  const answer = JSON.stringify({ ok: true, app });
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'request' }).end(answer);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createClient({ baseUrl: base, key: 'none' });
  const ways = {
    client: () => client.apps.get('app'),
    bare: async () => {
      const response = await fetch(`${base}/api/platform/v1/apps/app`, { headers: { 'x-api-key': 'none' } });
      return ((await response.json()) as { app: unknown }).app;
    },
  };
  const times = { client: [] as number[], bare: [] as number[] };
  for (let call = -WARM_CALLS; call < (quick ? 100 : CALLS); call++)
    for (const way of ['client', 'bare'] as const) {
      const from = performance.now();
      await ways[way]();
      if (call >= 0) times[way].push(performance.now() - from);
    }
  return { client: summarize(times.client), bare: summarize(times.bare) };
}
