import type { RunnerClient } from '@headrace/runner/client';
import type { FormerRunners } from './former-runners.ts';

/**
 * The current runner's calls, of which those about a task or workspace that a former runner has go to that
 * one. Without a former runner nothing is asked twice. New tasks, and what is kept of sources, are the current
 * runner's alone: a workspace that is made there is gone from the former one first.
 */
export function routeCalls(current: RunnerClient, former: FormerRunners): RunnerClient {
  const ofTask = async (id: string): Promise<RunnerClient> =>
    (await former.holding((client) => client.task(id).then(() => true))) ?? current;
  const ofWorkspace = async (id: string): Promise<RunnerClient> =>
    (await former.holding((client) => client.workspaceExists(id))) ?? current;
  const everywhere = async (ask: (client: RunnerClient) => Promise<void>): Promise<void> => {
    await former.holding((client) => ask(client).then(() => false));
    await ask(current);
  };
  return {
    ...current,
    async putWorkspace(id, tar, origin, fence) {
      await former.holding((client) => client.deleteWorkspace(id, fence).then(() => false));
      return current.putWorkspace(id, tar, origin, fence);
    },
    workspaceExists: async (id) => (await ofWorkspace(id)).workspaceExists(id),
    baseOf: async (id) => (await ofWorkspace(id)).baseOf(id),
    deleteWorkspace: (id, fence) => everywhere((client) => client.deleteWorkspace(id, fence)),
    capture: async (id, base) => (await ofWorkspace(id)).capture(id, base),
    blobs: async (id, paths) => (await ofWorkspace(id)).blobs(id, paths),
    patch: async (id, tar, fence) => (await ofWorkspace(id)).patch(id, tar, fence),
    // A run that was taken just before an upgrade starts where its workspace is.
    async startTask(id, request, fence) {
      const holder = 'workspaceId' in request ? ofWorkspace(request.workspaceId) : ofTask(id);
      return (await holder).startTask(id, request, fence);
    },
    async tasks() {
      const tasks = await current.tasks();
      await former.holding(async (client) => {
        tasks.push(...(await client.tasks()));
        return false;
      });
      return tasks;
    },
    task: async (id) => (await ofTask(id)).task(id),
    async *journal(id, from, signal, only) {
      yield* (await ofTask(id)).journal(id, from, signal, only);
    },
    ack: async (id, offset) => (await ofTask(id)).ack(id, offset),
    cancel: async (id) => (await ofTask(id)).cancel(id),
    pause: async (id) => (await ofTask(id)).pause(id),
    resume: async (id) => (await ofTask(id)).resume(id),
    answerPermission: async (id, requestId, allow) =>
      (await ofTask(id)).answerPermission(id, requestId, allow),
    steer: async (id, message) => (await ofTask(id)).steer(id, message),
    registerGateway: (id, socketPath) => everywhere((client) => client.registerGateway(id, socketPath)),
    putSource: async (id, tar, origin) => (await ofTask(id)).putSource(id, tar, origin),
    output: async (id) => (await ofTask(id)).output(id),
    deleteTask: async (id, fence) => (await ofTask(id)).deleteTask(id, fence),
    connect: async (id) => (await ofTask(id)).connect(id),
    close() {
      current.close();
      former.close();
    },
  };
}
