/** Nodes of the lab for rows that lose them. */
import type { Role } from './lab-role.ts';
import type { Sleeper } from './lab-sleepers.ts';
import type { Lab } from './lab.ts';

/** Starts nodes with one place each, so that no two runs or builds share one. The lab's own runners leave. */
export async function onlySmallNodes(lab: Lab, count: number): Promise<Role[]> {
  const nodes: Role[] = [];
  for (let n = 0; n < count; n++) nodes.push(await lab.addRunner({ HEADRACE_RUNNER_CAPACITY: '1' }));
  for (const node of nodes) await lab.registered(node);
  const own = lab.of('runner').filter((role) => !nodes.includes(role));
  for (const role of own) role.terminate();
  await Promise.all(own.map((role) => role.ended()));
  return nodes;
}

/** Where each thread's workspace is, in their order. */
export async function runnersOf(lab: Lab, threads: readonly string[]): Promise<string[]> {
  const ids = threads.map((path) => path.split('/').at(-1)!);
  const rows = await lab.query<{ id: string; runner_id: string }>(
    'select id, runner_id from threads where id = any($1::text[])',
    [ids],
  );
  return ids.map((id) => rows.find((row) => row.id === id)!.runner_id);
}

/** The longest time between two lines of work.txt, of a run that wrote the time all along. */
export async function longestGap({ caller }: Lab, app: string, sourceId: string): Promise<number> {
  const { file } = (await caller.call('GET', `${app}/sources/${sourceId}/file?path=work.txt`)).body;
  const times = (file.content as string).split('\n').filter(Boolean).map(Number);
  return Math.max(...times.slice(1).map((time, i) => time - times[i]!));
}

/** A message whose command writes the time for so long, beside a process that is seen from outside. */
export const timesFor = (seconds: number, sleeper: Sleeper) => `\`\`\`sh
sleep ${sleeper.seconds} &
end=$(($(date +%s) + ${seconds}))
while [ $(date +%s) -lt $end ]; do date +%s%3N >> work.txt; sleep 0.2; done
\`\`\``;
