/** The runtimes that execute the scenario with the packed client. */
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Consumer } from './bundle.ts';
import { inChromium } from './chromium.ts';
import type { Ground } from './scenario.ts';
import { NotTested, program, tool } from './tools.ts';
import { inWorkerd } from './workerd.ts';

export interface Runtime {
  name: string;
  /** Returns what the scenario did. */
  run(consumer: Consumer, ground: Ground): Promise<string[]>;
}

const LIMIT_MS = 180_000;

/** Each runs files unchanged, including the package. */
const programs: Record<string, () => string[]> = {
  'Node 20': () => [machinesNode(20)],
  'Node 22': () => [tool('node-22', 'bin', 'node')],
  'Node 26': () => [process.execPath],
  Bun: () => [tool('@oven', 'bun-linux-x64', 'bin', 'bun'), 'run'],
  Deno: () => [tool('@deno', 'linux-x64-glibc', 'deno'), 'run', '--allow-all', '--node-modules-dir=manual'],
};

export const RUNTIMES: Runtime[] = [
  ...Object.entries(programs).map(([name, command]): Runtime => ({
    name,
    run: (consumer, ground) => inProgram(consumer, ground, command()),
  })),
  { name: 'workerd', run: inWorkerd },
  { name: 'Chromium', run: inChromium },
];

function machinesNode(major: number): string {
  const node = program(['node'], `Node ${major}`);
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  if (!version.startsWith(`v${major}.`)) throw new NotTested(`this machine's Node is ${version}`);
  return node;
}

async function inProgram({ folder }: Consumer, ground: Ground, [file, ...args]: string[]): Promise<string[]> {
  const main = join(folder, 'main.mjs');
  writeFileSync(
    main,
    `import { scenario } from './scenario.mjs';
import { nodeScenario } from './node-scenario.mjs';
const ground = ${JSON.stringify(ground)};
console.log('\\n' + JSON.stringify([...(await scenario(ground)), ...(await nodeScenario(ground))]));
`,
  );
  const said = await output([file!, ...args, main], folder);
  return JSON.parse(said.trim().split('\n').at(-1)!) as string[];
}

/** The stdout of a process. Throws with all its output unless it succeeds in time. */
function output([file, ...args]: string[], cwd: string): Promise<string> {
  const child = spawn(file!, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    env: plainEnv(),
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (part: string) => (said[name] += part));
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => {
      if (code === 0) resolve(said.stdout);
      else reject(new Error(`it ended with ${code ?? signal}:\n${said.stdout}${said.stderr}`));
    });
  });
}

/** Without options that only this Node understands. */
const plainEnv = () => ({ PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1' });
