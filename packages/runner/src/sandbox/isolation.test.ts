import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeBench } from '../test-support.ts';
import { BubblewrapDriver } from './bubblewrap/driver.ts';
import { collect, type Collected } from './collect.ts';
import { DEFAULT_LIMITS, WORKSPACE, type Sandbox } from './driver.ts';
import { makeSandboxFolder, startSandbox } from './host.ts';
import { probe } from './probe.ts';
import { processTree, settled } from './processes.ts';

const bench = await makeBench();
const MEBI = 1024 ** 2;
const cgroups = bench?.host.driver instanceof BubblewrapDriver ? bench.host.driver.cgroups : undefined;

function start(command: string, limits = DEFAULT_LIMITS): Sandbox {
  const folder = makeSandboxFolder(bench!.host, randomUUID());
  const sandbox = startSandbox(bench!.host, { command: ['/bin/sh', '-c', command], binds: [{ host: folder, inside: WORKSPACE, readOnly: false }], limits });
  sandbox.stdin.end();
  return sandbox;
}

const run = (command: string, limits = DEFAULT_LIMITS): Promise<Collected> => collect(start(command, limits), { maxBytes: MEBI, timeoutMs: 20_000 });
const said = async (command: string): Promise<string> => (await run(command)).stdout.toString().trim();

describe.skipIf(!bench)('a sandbox', () => {
  test('sees nothing of the host but /usr', async () => {
    const secret = mkdtempSync(join(tmpdir(), 'headrace-test-'));
    onTestFinished(() => rmSync(secret, { recursive: true }));
    writeFileSync(join(secret, 'secret.txt'), 'secret', { mode: 0o644 });
    expect(await said(`cat ${secret}/secret.txt /root/.profile /proc/1/root${secret}/secret.txt 2>/dev/null; ls /`)).toBe('bin\ndev\netc\nhome\nlib\nlib64\nopt\nproc\nrun\nsbin\ntmp\nusr\nvar\nworkspace');
    expect(await said('cat /etc/shadow 2>/dev/null; cat /etc/passwd')).toMatch(/^root:x:0:0.*\nagent:x:1000:1000.*$/);
    expect(await said('ls /home /var /opt/headrace; ls /sys 2>&1')).not.toMatch(/kernel/);
  });

  test('has a network of its own with nothing in it', async () => {
    const server = createServer((socket) => socket.end('host')).listen(0, '127.0.0.1');
    await new Promise((resolve) => { server.once('listening', resolve); });
    const { port } = server.address() as { port: number };
    const dial = (host: string): string => `node -e "const s=require('net').connect(${port},'${host}');s.on('data',(d)=>console.log(String(d)));s.on('error',(e)=>console.log(e.code))"`;
    expect(await said(dial('127.0.0.1'))).toBe('ECONNREFUSED');
    expect(await said(dial('192.0.2.1'))).toBe('ENETUNREACH');
    server.close();
    expect(await said('ls /proc/sys/net/ipv4/conf | sort | tr "\\n" " "')).toBe('all default lo');
  });

  test('sees only its own processes, and no secrets in their environment', async () => {
    expect(await said('ls /proc | grep -c "^[0-9]"')).toMatch(/^[1-7]$/);
    expect(await said('cat /proc/1/environ | tr "\\0" "\\n"')).toBe('');
    expect((await said('env')).split('\n').map((line) => line.split('=')[0]).sort()).toEqual(['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'TERM', 'TMPDIR', 'USER']);
  });

  test('is not root, gains nothing and writes nothing but its own folders', async () => {
    expect(await said('id -u; for f in /usr/x /etc/x /x /dev/x /proc/sys/kernel/core_pattern /opt/headrace/agent/x; do (: > $f) 2>/dev/null && echo wrote $f; done; grep ^Cap /proc/self/status | grep -v 0000000000000000')).toBe('1000');
    expect(await said('for d in /workspace /tmp /home/agent /dev/shm; do (: > $d/x) && echo $d; done')).toBe('/workspace\n/tmp\n/home/agent\n/dev/shm');
    expect((await run('unshare -Ur true')).code).not.toBe(0);
    expect((await run('mount -t tmpfs x /tmp')).code).not.toBe(0);
    expect(await said('grep ^NoNewPrivs /proc/self/status')).toMatch(/1$/);
  });

  test('cannot make the calls that its filter names', async () => {
    const script = "import ctypes;l=ctypes.CDLL(None,use_errno=True);print([(l.syscall(n,0,0,0,0,0),ctypes.get_errno()) for n in (101,165,272,321,425,435)])";
    const answer = await said(`python3 -c "${script}" 2>/dev/null || echo none`);
    if (answer !== 'none' && process.arch === 'x64') expect(answer).toBe('[(-1, 1), (-1, 1), (-1, 1), (-1, 1), (-1, 1), (-1, 38)]');
  });

  test('cannot take more memory than its limit', async () => {
    const { code, oom } = await run('head -c 1073741824 /dev/zero | tail > /dev/null', { ...DEFAULT_LIMITS, memoryBytes: 64 * MEBI });
    if (cgroups) expect([code === 0, oom]).toEqual([false, true]);
  });

  test('a fork bomb stays within its processes, and ends with a kill', async () => {
    // Without cgroups the limit counts everything that this user runs, these tests among it.
    const processes = cgroups ? 64 : DEFAULT_LIMITS.processes;
    // Not a shell: one that cannot fork ends, and the bomb with it.
    const bomb = "for (let i = 0; i < 600; i++) require('child_process').spawn('sleep', ['60']).on('error', () => {}); setInterval(() => {}, 60000)";
    const sandbox = start(`exec node -e "${bomb}"`, { ...DEFAULT_LIMITS, processes });
    const size = (): number => processTree(sandbox.initPid() ?? -1).length;
    expect(await settled(() => size() >= 32, 10_000)).toBe(true);
    const init = sandbox.initPid()!;
    for (let i = 0; i < 20; i++) expect(size()).toBeLessThanOrEqual(processes + 6);
    const at = Date.now();
    await sandbox.kill();
    expect(Date.now() - at).toBeLessThan(2000);
    expect(processTree(init).filter((p) => p.state !== 'Z')).toEqual([]);
  });

  test('a file cannot grow over the disk limit', async () => {
    expect(await said('head -c 3000000 /dev/zero > big 2>/dev/null; stat -c %s big')).toBe('3000000');
    const { stdout } = await run('head -c 3000000 /dev/zero > big 2>/dev/null; stat -c %s big', { ...DEFAULT_LIMITS, diskBytes: MEBI });
    expect(stdout.toString().trim()).toBe(String(MEBI));
  });

  test('leaves no cgroup behind but those of waiting launches', async () => {
    for (let i = 0; i < 5; i++) await run('true');
    for (const folder of cgroups?.folders ?? []) expect(readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).length).toBeLessThanOrEqual(2);
  });

  test.skipIf(!cgroups?.cpu)('shares one small part of the processors with all others', async () => {
    const { folders, cpu } = cgroups!;
    const members = (folder: string) => readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean);
    expect(Number(readFileSync(join(cpu!, 'cpu.shares'), 'utf8'))).toBeLessThan(1024);
    const sandbox = start('echo up; sleep 60');
    await once(sandbox.stdout, 'data');
    // A launch that is being made enters one group after the other.
    await vi.waitFor(() => {
      const inside = readdirSync(folders.at(-1)!, { withFileTypes: true }).filter((entry) => entry.isDirectory()).flatMap((entry) => members(join(folders.at(-1)!, entry.name)));
      expect(inside.length).toBeGreaterThan(1);
      expect(members(cpu!)).toEqual(expect.arrayContaining(inside));
    });
    await sandbox.kill();
  });

  test('has git, node and a shell', async () => {
    expect(await said('git --version; node -p 1+1; printf "a b" | awk \'{print $2}\'')).toMatch(/^git version .*\n2\nb$/);
  });
});

test('without bubblewrap the probe says what to install', async () => {
  if (!bench) return;
  const driver = new BubblewrapDriver(bench.host);
  onTestFinished(() => driver.close());
  const found = await probe(bench.host, Object.assign(Object.create(driver) as BubblewrapDriver, { missing: () => Promise.resolve(['install bubblewrap: apt-get install bubblewrap']) }));
  expect(found).toMatchObject({ ok: false, driver: null, missing: ['install bubblewrap: apt-get install bubblewrap'] });
});
