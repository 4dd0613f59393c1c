import { expect, test } from 'vitest';
import { createRunnerClient } from '../client/runner-client.ts';
import { makeBench, outputOf, scratch, tarStream } from '../runner.fixture.ts';
import { makeServer } from './server.ts';

const bench = await makeBench();
const folder = scratch();

test.skipIf(!bench)('a journal of much text with long characters is read to its end', async () => {
  const { server } = makeServer({
    ...bench!,
    status: {
      id: 'r',
      pid: 1,
      driver: 'bubblewrap',
      ok: true,
      missing: [],
      limits: bench!.host.driver!.limits,
    },
  });
  await new Promise<void>((resolve) => {
    server.listen(`${folder}/s`, resolve);
  });
  const client = createRunnerClient(`${folder}/s`);
  await bench!.workspaces.put('thr_1', tarStream({}));
  await client.startTask('op_1', {
    kind: 'exec',
    workspaceId: 'thr_1',
    command: 'head -c 720000 /dev/zero | sed "s/\\x00/€/g"',
    timeoutMs: 20_000,
  });
  const entries = [];
  for await (const entry of client.journal('op_1', 0, AbortSignal.timeout(20_000))) entries.push(entry);
  expect(outputOf(entries)).toBe('€'.repeat(720_000));
  client.close();
  server.close();
});
