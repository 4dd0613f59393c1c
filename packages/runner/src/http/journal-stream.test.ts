import { expect, test } from 'vitest';
import { createRunnerClient } from '../client/runner-client.ts';
import { makeBench, outputOf, scratch, tarStream } from '../runner.fixture.ts';
import { makeServer } from './server.ts';

const bench = await makeBench();
const folder = scratch();

test.skipIf(!bench)(
  'a journal of much text with long characters is read to its end; that of its draft has the end alone',
  async () => {
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
    const ofDraft = [];
    for await (const entry of client.journal('op_1', 0, AbortSignal.timeout(20_000), 'draft'))
      ofDraft.push(entry.type);
    expect(ofDraft).toEqual(['end']);
    const unknown = client.journal('op_1', 0, undefined, 'all' as 'draft');
    await expect(unknown[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      status: 400,
      message: 'only must be draft.',
    });
    client.close();
    server.close();
  },
);
