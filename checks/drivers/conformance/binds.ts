import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HOME } from '../../../packages/runner/src/sandbox/driver.ts';
import { makeSandboxFolder } from '../../../packages/runner/src/sandbox/host.ts';
import type { Subject } from './subject.ts';

export function bindCases({ bench, said }: Subject): void {
  test('sees folders of the host where it is told to, to read or to write', async () => {
    const readOnly = makeSandboxFolder(bench.host, 'ro'),
      writable = makeSandboxFolder(bench.host, 'rw'),
      home = makeSandboxFolder(bench.host, 'home');
    const binds = [
      { host: readOnly, inside: '/opt/headrace/agents/x', readOnly: true },
      { host: writable, inside: '/run/x y', readOnly: false },
      { host: home, inside: HOME, readOnly: false },
    ];
    const wrote = await said(
      [
        '(: > /opt/headrace/agents/x/f) 2>/dev/null && echo wrote',
        'ls -d /opt/headrace/agents/*',
        'echo new > "/run/x y/f"',
        'echo home > ~/f',
        'stat -c %U ~',
      ].join('; '),
      { binds },
    );
    expect(wrote).toBe('/opt/headrace/agents/x\nagent');
    expect([readFileSync(join(writable, 'f'), 'utf8'), readFileSync(join(home, 'f'), 'utf8')]).toEqual([
      'new\n',
      'home\n',
    ]);
  });

  test('reaches a socket of the host that it is shown', async () => {
    const folder = makeSandboxFolder(bench.host, 'sock');
    const server = createServer((socket) => socket.end('host')).listen({
      path: join(folder, 's'),
      readableAll: true,
      writableAll: true,
    });
    onTestFinished(() => {
      server.close();
    });
    const dial =
      "require('net').connect('/run/s/s').on('data',(d)=>console.log(String(d))).on('error',(e)=>console.log(e.code))";
    expect(
      await said(['node', '-e', dial], { binds: [{ host: folder, inside: '/run/s', readOnly: true }] }),
    ).toBe('host');
  });
}
