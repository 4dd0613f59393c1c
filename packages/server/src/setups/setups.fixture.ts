/** Apps with a setup, and waiting for the end of their setups, over HTTP. */
import { newBench, until } from '../builds/builds.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

export interface SetupSetting {
  command: string;
  paths: string[];
  timeoutSeconds?: number;
}

/** Makes something new each time that it runs. */
export const FRESH = 'mkdir gen; read n < /proc/sys/kernel/random/uuid; echo "$n" | tee gen/number';

/** An app whose head has a package.json, with that setup. */
export async function newSetupBench(server: TestServer, setup: SetupSetting | string) {
  const bench = await newBench(server, { 'package.json': '{}\n', 'index.js': '1\n' });
  const setting = typeof setup === 'string' ? { command: setup, paths: ['package.json'] } : setup;
  // Its own thread has its workspace from before the setting.
  await until(async () => (await server.call('GET', bench.thread)).body.thread.workspaceStatus === 'ready');
  const set = (change: object) => server.call('PATCH', `${bench.url}/settings`, change);
  await set({ setup: setting });
  const at = `${bench.url}/setups`;
  const read = async (id: string) => (await server.call('GET', `${at}/${id}`)).body.setup;
  return {
    ...bench,
    set,
    setups: async () => (await server.call('GET', at)).body.setups,
    readSetup: read,
    ask: async (body: object = {}) => (await server.call('POST', at, body)).body.setup,
    setupEnded: async (id: string) => (await server.call('GET', `${at}/${id}?waitSeconds=30`)).body.setup,
    setupRuns: (id: string) => until(async () => (await read(id)).status === 'running'),
    setupLogs: async (id: string) => (await server.call('GET', `${at}/${id}/logs`)).body.logs,
    newThread: async () => (await server.call('POST', `${bench.url}/threads`, {})).body.thread.id as string,
    threadOf: async (id: string) => (await server.call('GET', `${bench.url}/threads/${id}`)).body.thread,
    exec: async (threadId: string, command: string) =>
      (await server.call('POST', `${bench.url}/threads/${threadId}/exec`, { command })).body.exec,
  };
}
