import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { createRunnerClient, type RunnerClient } from '../client/runner-client.ts';
import { scratch, type Bench } from '../runner.fixture.ts';
import type { RunnerStatus } from '../protocol.ts';
import { makeServer } from './server.ts';

/** What a runner on the bench says of itself. */
export const BENCH_STATUS: RunnerStatus = {
  id: 'rnr',
  pid: 1,
  driver: 'bubblewrap',
  ok: true,
  missing: [],
  limits: { memory: 'watchdog', processes: 'rlimit', cpu: 'none', warnings: [] },
};

/** A client of a server on the bench, and what the server is used for, until the file's tests are over. */
export async function serve(
  bench: Bench,
): Promise<{ client: RunnerClient; use: ReturnType<typeof makeServer>['use'] }> {
  const socketPath = join(scratch(), 's');
  const { server, use } = makeServer({ ...bench, status: BENCH_STATUS });
  await once(server.listen(socketPath), 'listening');
  const client = createRunnerClient(socketPath);
  afterAll(() => {
    client.close();
    server.close();
  });
  return { client, use };
}
