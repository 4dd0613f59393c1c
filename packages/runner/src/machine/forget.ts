import type { Runner } from '../http/routes.ts';
import type { Forget } from '../registration.ts';

/**
 * Ends and deletes what nobody needs. A workspace that something has used since `sentAt`, when the runner said
 * that it has it, is another one by now, or is needed again: it stays, and the next answer tells. What fails is
 * named again by the next answer. Returns the faults.
 */
export async function forget(runner: Runner, named: Forget, sentAt: number): Promise<string[]> {
  const { tasks, workspaces } = runner;
  const unused = new Set(
    named.workspaces.filter((id) => workspaces.has(id) && workspaces.get(id).usedAt < sentAt),
  );
  const faults: string[] = [];
  const tried = async (what: string, work: () => Promise<void> | void): Promise<void> => {
    try {
      await work();
    } catch (error) {
      faults.push(`${what} stays: ${(error as Error).message}`);
    }
  };
  const ended = tasks
    .all()
    .filter(({ id, workspaceId }) => named.tasks.includes(id) || (workspaceId && unused.has(workspaceId)));
  await Promise.all(ended.map(({ id }) => tried(`task ${id}`, () => tasks.remove(id))));
  for (const id of unused) await tried(`workspace ${id}`, () => workspaces.remove(id));
  for (const id of named.groups) await tried(`group ${id}`, () => workspaces.trees.forget(id));
  return faults;
}
