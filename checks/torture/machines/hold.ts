/** Three machines to try things by hand. */
import type { Setup } from '../lib/part.ts';
import { startLab } from './lab.ts';

/** Starts them, prints how to reach them, and never resolves: a signal ends this process and them. */
export async function hold(setup: Pick<Setup, 'scratch' | 'atEnd' | 'say'>): Promise<never> {
  const own = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] =>
      entry[0].startsWith('HEADRACE_'),
    ),
  );
  const lab = await startLab(setup, { env: { api: own, worker: own } });
  console.log(`--base ${lab.base} --key ${lab.key}`);
  for (const { name, machine, host } of lab.roles)
    console.log(`machine ${machine}: ${name} at ${host.address}, ${host.enter.join(' ')} sh`);
  for (const [name, value] of Object.entries(lab.serviceEnv)) console.log(`${name}=${value}`);
  // Signals and its hosts' pipes keep the process.
  return new Promise<never>(() => {});
}
