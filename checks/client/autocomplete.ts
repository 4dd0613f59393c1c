/** How long an editor waits for completions after `headrace.`: tsserver on a consumer of the packed client. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Consumer } from './bundle.ts';
import { tool } from './tools.ts';

export const MOST_MS = 200;
const LIMIT_MS = 60_000;
const ROUNDS = 5;

const TEXT = `import { createClient } from '@headrace/client';
const headrace = createClient({ baseUrl: '', key: '' });
headrace.;
headrace.applies.;
`;
/** Where the cursor is, and a name that must be offered. */
const PLACES = [
  { line: 3, offset: 10, name: 'applies' },
  { line: 4, offset: 18, name: 'create' },
];

/** The slowest answer after the project is open, in ms. */
export async function autocomplete({ folder }: Consumer): Promise<number> {
  const place = join(folder, 'editor');
  mkdirSync(place);
  const file = join(place, 'open.ts');
  writeFileSync(file, TEXT);
  const compilerOptions = { strict: true, module: 'nodenext', lib: ['es2022', 'dom'], types: [] };
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['open.ts'] }));
  writeFileSync(join(place, 'package.json'), '{ "type": "module" }\n');
  const server = spawn(
    process.execPath,
    [tool('typescript-6.0', 'lib', 'tsserver.js'), '--disableAutomaticTypingAcquisition'],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: LIMIT_MS,
    },
  );
  const waiting = new Map<number, (body: unknown) => void>();
  createInterface(server.stdout).on('line', (line) => {
    if (!line.startsWith('{')) return;
    const { request_seq: seq, body } = JSON.parse(line) as { request_seq?: number; body?: unknown };
    if (seq !== undefined) waiting.get(seq)?.(body);
  });
  const ended = new Promise<never>((_, reject) => {
    server.once('exit', () => reject(new Error('tsserver has ended')));
  });
  ended.catch(() => {});
  let seq = 0;
  const sendCommand = (command: string, args: object) =>
    server.stdin.write(`${JSON.stringify({ seq: ++seq, type: 'request', command, arguments: args })}\n`);
  const ask = (command: string, args: object): Promise<unknown> => {
    sendCommand(command, args);
    return Promise.race([new Promise((resolve) => waiting.set(seq, resolve)), ended]);
  };
  try {
    sendCommand('open', { file });
    // The first answer opens the project.
    await ask('completionInfo', { file, line: PLACES[0]!.line, offset: PLACES[0]!.offset });
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++)
      for (const { name, ...at } of PLACES) {
        // An edit before each request, as people type, so that no answer is cached.
        sendCommand('change', {
          file,
          line: 1,
          offset: 1,
          endLine: 1,
          endOffset: 1,
          insertString: `/* ${round} */`,
        });
        const from = performance.now();
        const answer = (await ask('completionInfo', { file, ...at })) as { entries: { name: string }[] };
        times.push(performance.now() - from);
        if (!answer.entries.some((entry) => entry.name === name)) throw new Error(`${name} is not offered`);
      }
    return Math.max(...times);
  } finally {
    server.kill();
  }
}
