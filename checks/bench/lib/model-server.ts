/** Runs the harness's model server as a process, and a service that has it as the provider `bench`. */
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Setup } from './benchmark.ts';
import { addressOf, endProcess } from '../../harness/service.ts';
import type { Service, StartOptions } from '../../harness/service.ts';

const MAIN = join(import.meta.dirname, '../../harness/model-server/main.ts');

/** Resolves with its base address, up to and with `/v1`. It ends with the benchmark. */
export async function startModels(setup: Setup): Promise<string> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  setup.atEnd(() => endProcess(child));
  return `${await addressOf(child)}/v1`;
}

/**
 * A service with that provider, on its Anthropic wire, at a price: a call is reserved and settled as a real
 * one.
 */
export async function startServiceWithModels(
  setup: Setup,
  baseUrl: string,
  options: StartOptions = {},
): Promise<Service> {
  const file = join(mkdtempSync(join(setup.scratch, 'config-')), 'config.json');
  writeFileSync(
    file,
    JSON.stringify({
      providers: { bench: { baseUrl, wires: ['anthropic'], key: 'none' } },
      prices: { 'bench/*': { inputMicros: 3_000_000, outputMicros: 15_000_000 } },
    }),
  );
  return setup.start({ ...options, env: { ...options.env, HEADRACE_CONFIG_FILE: file } });
}
