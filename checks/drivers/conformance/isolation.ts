import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Subject } from './subject.ts';
import { probe } from '../../../packages/runner/src/sandbox/probe.ts';

const SEEN = [
  'bin',
  'dev',
  'etc',
  'home',
  'lib',
  'lib32',
  'lib64',
  'libx32',
  'opt',
  'proc',
  'run',
  'sbin',
  'sys',
  'tmp',
  'usr',
  'var',
  'workspace',
];
/** Files that no sandbox may write. */
const CLOSED = [
  '/usr/x',
  '/etc/x',
  '/x',
  '/opt/x',
  '/home/x',
  '/var/x',
  '/dev/x',
  '/sys/x',
  '/proc/sys/kernel/core_pattern',
  '/opt/headrace/agent/x',
];
const VARIABLES = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'TERM', 'TMPDIR', 'USER'];

export function isolationCases({ bench, run, said }: Subject): void {
  test('passes the probe', async () => {
    expect(await probe(bench.host, bench.host.driver!)).toMatchObject({ ok: true, missing: [] });
  });

  test('sees nothing of the host but its system', async () => {
    const secret = mkdtempSync(join(tmpdir(), 'headrace-test-'));
    onTestFinished(() => rmSync(secret, { recursive: true }));
    writeFileSync(join(secret, 'secret.txt'), 'secret', { mode: 0o644 });
    const [top, ...rest] = (
      await said(
        `ls / | tr '\\n' ' '; echo
        cat ${secret}/secret.txt /root/.profile /proc/1/root${secret}/secret.txt 2>/dev/null
        ls /home /sys/kernel 2>&1`,
      )
    ).split('\n');
    expect(
      top!
        .trim()
        .split(' ')
        .filter((name) => !SEEN.includes(name)),
    ).toEqual([]);
    expect(rest.join('\n')).not.toMatch(/^secret/m);
    expect(await said('ls -A /home; ls -A /sys/kernel /boot /srv 2>/dev/null')).toBe('agent');
    expect(await said('cat /etc/shadow 2>/dev/null; cat /etc/passwd')).toMatch(
      /^root:x:0:0.*\nagent:x:\d+:\d+.*$/,
    );
    expect(await said('cat /etc/resolv.conf 2>/dev/null; hostname')).toBe('sandbox');
    expect(await said('whoami')).toBe('agent');
  });

  test('has a network of its own with nothing in it', async () => {
    const server = createServer((socket) => socket.end('host')).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.close();
    });
    await new Promise((resolve) => {
      server.once('listening', resolve);
    });
    const { port } = server.address() as { port: number };
    const dial = (host: string): string =>
      `node -e "const s=require('net').connect(${port},'${host}');s.on('data',(d)=>console.log(String(d)));s.on('error',(e)=>console.log(e.code))"`;
    expect(await said(dial('127.0.0.1'))).toBe('ECONNREFUSED');
    expect(await said(dial('192.0.2.1'))).toMatch(/^E(NETUNREACH|HOSTUNREACH)$/);
    expect(await said('ls /proc/sys/net/ipv4/conf | sort | tr "\\n" " "')).toBe('all default lo');
  });

  test('sees only its own processes', async () => {
    expect(Number(await said('ls /proc | grep -c "^[0-9]"'))).toBeLessThan(8);
    expect(
      await said(
        'cat /proc/1/environ | tr "\\0" "\\n" | grep -v -e "^\\(HOSTNAME\\|container\\)=" | cut -d= -f1 | sort | tr "\\n" " "',
        { env: { SECRET: 'x' } },
      ),
    ).toMatch(/^$|^HOME LANG LOGNAME PATH PWD SECRET SHELL TERM TMPDIR USER$/);
  });

  test('has the environment that was asked for, and nothing else', async () => {
    expect((await said('env | cut -d= -f1')).split('\n').sort()).toEqual(VARIABLES);
    const value = 'a "b" \'c\' $HOME `id`\n=ä\\';
    expect(
      await said(['node', '-p', 'JSON.stringify([process.env.ONE, process.env.PWD, process.env.HOME])'], {
        env: { ONE: value },
      }),
    ).toBe(JSON.stringify([value, '/workspace', '/home/agent']));
  });

  test('is not root, gains nothing and writes nothing but its own folders', async () => {
    expect(
      await said(
        `[ "$(id -u)" -ge 1000 ] || id
        for f in ${CLOSED.join(' ')}; do (: > $f) 2>/dev/null && echo wrote $f; done
        grep ^Cap /proc/self/status | grep -v 0000000000000000`,
      ),
    ).toBe('');
    expect(
      await said('for d in /workspace /tmp /var/tmp /home/agent /dev/shm; do (: > $d/x) && echo $d; done'),
    ).toBe('/workspace\n/tmp\n/var/tmp\n/home/agent\n/dev/shm');
    expect(
      await said('echo "echo ran" > /tmp/x; echo "echo ran" > ~/x; chmod 755 /tmp/x ~/x; /tmp/x; ~/x'),
    ).toBe('ran\nran');
    expect((await run('unshare -Ur true')).code).not.toBe(0);
    expect((await run('mount -t tmpfs x /tmp')).code).not.toBe(0);
    expect(await said('grep ^NoNewPrivs /proc/self/status')).toMatch(/1$/);
  });

  test('has git, node and a shell', async () => {
    expect(await said('git --version; node -p 1+1; printf "a b" | awk \'{print $2}\'')).toMatch(
      /^git version .*\n2\nb$/,
    );
  });
}
