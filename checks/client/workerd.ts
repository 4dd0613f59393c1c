/** The scenario as a Worker, on the runtime of Cloudflare Workers. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundled } from './bundle.ts';
import type { Consumer } from './bundle.ts';
import type { Ground } from './scenario.ts';
import { tool } from './tools.ts';

const START_MS = 20_000;
const LIMIT_MS = 180_000;

const worker = (ground: Ground) => `import { scenario } from '../scenario.mjs';
export default {
  async fetch() {
    try {
      return Response.json({ done: await scenario(${JSON.stringify(ground)}) });
    } catch (error) {
      return Response.json({ error: error.message });
    }
  },
};
`;

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "worker.js")],
      compatibilityDate = "2026-11-01",
      globalOutbound = "here",
    )),
    (name = "here", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

export async function inWorkerd(consumer: Consumer, ground: Ground): Promise<string[]> {
  const workerd = tool('@cloudflare', 'workerd-linux-64', 'bin', 'workerd');
  const folder = mkdtempSync(join(consumer.folder, 'workerd-'));
  writeFileSync(join(folder, 'worker.js'), await bundled(consumer, worker(ground)));
  writeFileSync(join(folder, 'config.capnp'), CONFIG);
  const child = spawn(workerd, ['serve', '--control-fd=1', 'config.capnp'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => (said += part));
  try {
    const port = await new Promise<number>((resolve, reject) => {
      const failed = (why: string) => reject(new Error(`workerd does not listen (${why}): ${said}`));
      const timer = setTimeout(() => failed('no port in time'), START_MS);
      child.once('exit', (code) => failed(`exit ${code}`));
      createInterface(child.stdout).on('line', (line) => {
        clearTimeout(timer);
        resolve((JSON.parse(line) as { port: number }).port);
      });
    });
    const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(LIMIT_MS) });
    const { done, error } = (await answer.json()) as { done?: string[]; error?: string };
    if (done === undefined) throw new Error(`${error}\n${said}`);
    return done;
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}
