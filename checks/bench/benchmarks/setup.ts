/**
 * What a thread costs whose workspace lies over the layer of a setup with 300 MB of dependencies, which the
 * setup's command makes; beside threads of the same source without a setup, in turns.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { newAppWith } from '../../harness/apps.ts';
import { makeFiles } from '../../harness/files.ts';
import type { Caller } from '../../harness/http.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark, Outcome } from '../lib/benchmark.ts';

const FILES = 100;
const BYTES = 320 * 1024;
const PACKAGES = 400;
const FILES_OF_PACKAGE = 50;
/** 300 MB in all. */
const FILE_BYTES = 15_000;
const ASK_EVERY_MS = 5;
const LIMIT_MS = 60_000;

/** Different content in each file, as in packages. */
const COMMAND = `cat > make.cjs <<'END'
const { mkdirSync, writeFileSync } = require('node:fs');
const { randomBytes } = require('node:crypto');
for (let p = 0; p < ${PACKAGES}; p++) {
  mkdirSync(\`node_modules/package-\${p}/lib\`, { recursive: true });
  for (let f = 0; f < ${FILES_OF_PACKAGE}; f++) writeFileSync(\`node_modules/package-\${p}/lib/\${f}.js\`, randomBytes(${FILE_BYTES}));
}
END
node make.cjs`;

export const setupBenchmark: Benchmark = {
  name: 'setup',
  title: 'Threads over the layer of a setup',
  async run(setup): Promise<Outcome> {
    const samples = setup.quick ? 3 : 30;
    const service = await setup.start();
    const files = [...makeFiles(FILES, BYTES), { path: 'package.json', content: '{}\n' }];
    const plain = await newAppWith(service, files);
    const layered = await newAppWith(service, files);
    await service.call('PATCH', `${layered.app}/settings`, {
      setup: { command: COMMAND, paths: ['package.json'] },
    });
    const made = await makeSetup(service, layered);
    const timings = { plain: [] as number[], layered: [] as number[], command: [] as number[] };
    for (let i = -2; i < samples; i++)
      for (const name of i % 2 === 0 ? (['plain', 'layered'] as const) : (['layered', 'plain'] as const)) {
        const { took, thread } = await readyThread(service, name === 'plain' ? plain : layered);
        if (i >= 0) timings[name].push(took);
        if (name === 'layered' && i >= 0) timings.command.push(await readAll(service, thread));
        // A deleted thread takes its workspace along.
        await service.call('DELETE', thread);
      }
    const [without, withLayer] = [summarize(timings.plain), summarize(timings.layered)];
    return {
      rows: [
        { what: 'a thread without a setup, POST sent → ready seen', unit: 'ms', figures: without },
        { what: 'a thread over a layer of 300 MB, in turns', unit: 'ms', figures: withLayer },
        {
          what: 'its first command, which finds and counts the layer’s files',
          unit: 'ms',
          figures: summarize(timings.command),
        },
        {
          what: 'the setup itself, once: POST sent → ready seen',
          unit: 'ms',
          figures: summarize([made.took]),
        },
      ],
      aims: [
        {
          what: 'a thread over a warm layer of 300 MB, median',
          bound: 'most',
          limit: 400,
          value: withLayer.median,
          unit: 'ms',
        },
      ],
      notes: [
        `The layer has ${(PACKAGES * FILES_OF_PACKAGE).toLocaleString('en')} files and ${Math.round(made.byteSize / 1e6)} MB, the source ${FILES + 1} files. The threads are asked for every ${ASK_EVERY_MS} ms. The command is \`find node_modules -type f | wc -l\`, an exec, and counts all of them.`,
      ],
    };
  },
};

interface Target {
  app: string;
  sourceId: string;
}

async function makeSetup(
  service: Caller,
  { app, sourceId }: Target,
): Promise<{ took: number; byteSize: number }> {
  const begun = performance.now();
  const { setup } = (await service.call('POST', `${app}/setups`, { sourceId })).body;
  for (const deadline = Date.now() + 10 * LIMIT_MS; Date.now() < deadline;) {
    const now = (await service.call('GET', `${app}/setups/${setup.id as string}?waitSeconds=30`)).body.setup;
    if (now.status === 'ready') return { took: performance.now() - begun, byteSize: now.byteSize };
    if (now.status === 'failed') throw new Error(`The setup failed: ${now.error.message as string}`);
  }
  throw new Error('The setup did not end.');
}

async function readyThread(
  service: Caller,
  { app, sourceId }: Target,
): Promise<{ took: number; thread: string }> {
  const begun = performance.now();
  const { body } = await service.call('POST', `${app}/threads`, { sourceId });
  const thread = `${app}/threads/${body.thread.id as string}`;
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline; await sleep(ASK_EVERY_MS)) {
    const now = (await service.call('GET', thread)).body.thread;
    if (now.workspaceStatus === 'ready') return { took: performance.now() - begun, thread };
    if (now.initializationState === 'failed') throw new Error('A workspace could not be prepared.');
  }
  throw new Error('A workspace was not prepared in time.');
}

async function readAll(service: Caller, thread: string): Promise<number> {
  const begun = performance.now();
  const { exec } = (
    await service.call('POST', `${thread}/exec`, { command: 'find node_modules -type f | wc -l' })
  ).body;
  if (Number(exec.stdout) !== PACKAGES * FILES_OF_PACKAGE)
    throw new Error(`The thread finds ${exec.stdout as string} files.`);
  return performance.now() - begun;
}
