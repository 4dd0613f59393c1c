import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EgressProxy } from '../egress/proxy.ts';
import { testOutside } from '../egress/outside.fixture.ts';
import { endOf, entriesOf, makeBench, outputOf, tarStream } from '../runner.fixture.ts';
import { Tasks } from '../tasks/tasks.ts';

const bench = await makeBench();
const NOBODY = 65_534;

describe.skipIf(!bench || process.getuid?.() !== 0)('the sockets of a task', () => {
  test('are reached from its sandbox, and by no other account of the machine that reads where they are', async () => {
    await bench!.workspaces.put('thr_sockets', tarStream({}));
    const tasks = new Tasks(
      bench!.host,
      bench!.workspaces,
      bench!.gateways,
      new EgressProxy(testOutside(1, {})),
    );
    const command = `node -e "require('net').connect(4402, '127.0.0.1').on('data', (d) => console.log(String(d))).on('close', () => setTimeout(() => {}, 60000)).write('GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')"`;
    const { task } = tasks.start('op_sockets', {
      kind: 'exec',
      workspaceId: 'thr_sockets',
      command,
      timeoutMs: 30_000,
      egress: ['good.example'],
    });
    for await (const entry of task.journal.read(0, AbortSignal.timeout(20_000)))
      if (entry.type === 'output') break;
    const path = readFileSync('/proc/net/unix', 'utf8')
      .split(/\s+/)
      .find((word) => word.startsWith(bench!.host.base) && word.endsWith('/egress'))!;
    const stranger = `require('net').connect(${JSON.stringify(path)}).on('connect', () => { console.log('open'); process.exit(); }).on('error', (e) => console.log(e.code))`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', stranger], {
      uid: NOBODY,
      gid: NOBODY,
      cwd: '/',
    });
    await task.cancel();
    const entries = await entriesOf(task);
    expect([outputOf(entries).split('\r\n')[0], endOf(entries).outcome, stdout.trim()]).toEqual([
      'HTTP/1.1 400 Bad Request',
      'cancelled',
      'EACCES',
    ]);
  });
});
