import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { JournalEntry, Runtime, TaskRequest } from '../protocol.ts';
import { testCertificate } from '../egress/certificate.fixture.ts';
import { endOf, entriesOf, makeBench, outputOf, scratch, tarStream } from '../runner.fixture.ts';
import { makeRoot } from '../sandbox/root.fixture.ts';
import { fakeAgent } from './fake-agent.fixture.ts';

const bench = await makeBench();
const folder = scratch();
chmodSync(folder, 0o755);
const root = makeRoot(join(folder, 'plain'), 'plain');
const plain: Runtime = { name: 'plain', root, image: null };
let counter = 0;

type Settings = Partial<Pick<TaskRequest, 'runtime' | 'env' | 'egress' | 'authorities'>>;

async function exec(command: string, settings: Settings): Promise<JournalEntry[]> {
  const id = `run_${++counter}`,
    workspaceId = `thr_rt_${counter}`;
  await bench!.workspaces.put(workspaceId, tarStream({ 'a.txt': 'a\n' }));
  return bench!.run(id, { kind: 'exec', workspaceId, command, timeoutMs: 30_000, ...settings });
}
const said = async (command: string, settings: Settings): Promise<string> =>
  outputOf(await exec(command, settings));

describe.skipIf(!bench)('a sandbox with a runtime', () => {
  test('sees its files, with the usual places, and nothing of this machine', async () => {
    const look = `cat /etc/mark a.txt; ls / /home /opt/headrace /usr 2>/dev/null; id -un; cat /etc/hosts; [ -e /usr/bin ] && echo usr`;
    expect(await said(look, { runtime: plain })).toBe(
      'plain\na\n/:\nbin\ndev\netc\nhome\nlib\nlib64\nopt\nproc\nrun\nsrv\ntmp\nvar\nworkspace\n\n/home:\nagent\n\n/opt/headrace:\nagent\nbin\ngitconfig\nlib\nagent\n127.0.0.1 localhost\n::1 localhost\n',
    );
  });

  test('cannot write to it, but to its own places and the workspace', async () => {
    const write = '(: > $f) 2>/dev/null && echo $f';
    const tried = '/x /bin/x /etc/x /srv/x /opt/headrace/x /proc/x /tmp/x /var/tmp/x /home/agent/x x';
    expect(await said(`for f in ${tried}; do ${write}; done; true`, { runtime: plain })).toBe(
      '/tmp/x\n/var/tmp/x\n/home/agent/x\nx\n',
    );
  });

  test('has its variables below those of the sandbox, and its PATH before the usual folders', async () => {
    const env = { SAYS: 'hello', HOME: '/nowhere', USER: 'other', PATH: '/srv/bin:/bin' };
    expect(
      await said(
        'grep -q "name = agent" $GIT_CONFIG_SYSTEM || echo no; echo "$SAYS $HOME $USER $PATH"; command -v node; true',
        { runtime: plain, env },
      ),
    ).toBe('hello /home/agent agent /srv/bin:/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin\n');
  });

  test("carries the runner's Node along, which knows its own path, and leaks no variable", async () => {
    const node = '/opt/headrace/bin/node';
    const again = `require('child_process').execFileSync(process.execPath, ['-p', 'process.version'])`;
    expect(
      await said(`${node} -p "process.execPath + ' ' + ${again}"; env | grep LD_; true`, { runtime: plain }),
    ).toBe(`${node} ${process.version}\n\n`);
  });

  test('reaches the egress proxy by a relay that needs a shell alone', async () => {
    const ask = `/opt/headrace/bin/node -e "require('net').connect(4402, '127.0.0.1').on('data', (d) => { console.log(String(d).split('\\r')[0]); process.exit(); }).write('CONNECT b.example:443 HTTP/1.1\\r\\n\\r\\n')"`;
    expect(await said(ask, { runtime: plain, egress: ['a.example'] })).toBe(
      'HTTP/1.1 403 Refused by the setting egress: not_listed\n',
    );
  });

  test('runs the built-in agent, and others by its own Node or the carried one', async () => {
    const turn = async (agent: Extract<TaskRequest, { kind: 'turn' }>['agent'], prompt: string) => {
      const workspaceId = `thr_rt_${++counter}`;
      await bench!.workspaces.put(workspaceId, tarStream({ 'a.txt': 'a\n' }));
      const entries = await bench!.run(`run_${counter}`, {
        kind: 'turn',
        workspaceId,
        agent,
        prompt,
        permissions: 'allow',
        timeoutMs: 30_000,
        runtime: plain,
      });
      return { end: endOf(entries), entries };
    };
    const scripted = { ...fakeAgent(''), name: 'scripted', command: null };
    const { end, entries } = await turn(scripted, '```sh\ncat /etc/mark\n```\n');
    expect(end.error).toBeNull();
    expect(entries.findLast((entry) => entry.type === 'tool')?.output).toBe('plain\n');
    const code = `on['session/prompt'] = () => { text(require('fs').readFileSync('/etc/mark', 'utf8')); return { stopReason: 'end_turn' }; };`;
    const other = await turn(fakeAgent(code), 'x');
    expect(other.end.error).toBeNull();
    expect(other.entries.findLast((entry) => entry.type === 'text')?.content).toBe('plain\n');
  });

  test('shows a preview, whose relay runs by the carried Node', async () => {
    const id = `prv_${++counter}`;
    const serve = `/opt/headrace/bin/node -e "require('http').createServer((q, s) => s.end(require('fs').readFileSync('/etc/mark'))).listen(3000)"`;
    const { task } = bench!.tasks.start(id, {
      kind: 'preview',
      command: serve,
      port: 3000,
      timeoutMs: 30_000,
      runtime: plain,
    });
    await task.putSource(tarStream({ 'a.txt': 'a' }));
    const signal = AbortSignal.timeout(20_000);
    for await (const { type } of task.journal.read(0, signal))
      if (type === 'listening' || type === 'end') break;
    const socket = await task.connect();
    socket.write('GET / HTTP/1.0\r\n\r\n');
    let answer = '';
    for await (const part of socket) answer += String(part);
    expect(answer).toMatch(/\r\n\r\nplain\n$/);
    await bench!.tasks.remove(id);
  });

  test('builds in it, and its output is read as ever', async () => {
    const id = `bld_${++counter}`;
    const { task } = bench!.tasks.start(id, {
      kind: 'build',
      command: 'cat /etc/mark > out.txt',
      outputDirectory: '.',
      timeoutMs: 30_000,
      runtime: plain,
    });
    await task.putSource(tarStream({ 'a.txt': 'a' }));
    expect(endOf(await entriesOf(task)).exitCode).toBe(0);
    const parts: Buffer[] = [];
    for await (const part of await task.output()) parts.push(part as Buffer);
    expect(Buffer.concat(parts).toString('latin1')).toContain('plain\n');
    await bench!.tasks.remove(id);
  });

  test('where only the runner enters the folder above, the root is seen all the same', async () => {
    const closed = join(folder, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    const inner = makeRoot(join(closed, 'root'), 'inner');
    expect(await said('cat /etc/mark', { runtime: { ...plain, root: inner } })).toBe('inner\n');
  });
});

describe.skipIf(!bench)('no sandbox', () => {
  const gone = join(folder, 'gone');
  const shellless = join(folder, 'shellless');
  mkdirSync(join(shellless, 'bin'), { recursive: true });
  symlinkSync('/bin/nothing', join(shellless, 'bin/sh'));

  test.each<[string, Omit<Runtime, 'name'>]>([
    ['is not there', { root: gone, image: null }],
    ['has no shell', { root: shellless, image: null }],
    ['is an image', { root: null, image: 'a:1' }],
    ['is nothing any more', { root: null, image: null }],
  ])('is started with a runtime that %s', async (_name, runtime) => {
    expect(endOf(await exec('echo started', { runtime: { name: 'gone', ...runtime } }))).toMatchObject({
      outcome: 'failed',
      error: {
        code: 'workspace_unavailable',
        message: expect.stringContaining('The runtime gone is not there'),
      },
    });
  });

  test('is started with a runtime that vanished since the last one', async () => {
    const vanishing = makeRoot(join(folder, 'vanishing'), 'here');
    const runtime = { name: 'vanishing', root: vanishing, image: null };
    expect(await said('cat /etc/mark', { runtime })).toBe('here\n');
    rmSync(vanishing, { recursive: true });
    expect(endOf(await exec('true', { runtime })).error?.code).toBe('workspace_unavailable');
  });
});

describe.skipIf(!bench)("the operator's authorities", () => {
  const { cert: authorities } = testCertificate(['corp.example']);
  const { cert: systems } = testCertificate(['system.example']);
  const { cert: own } = testCertificate(['root.example']);
  const VARIABLES = ['SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'PIP_CERT', 'REQUESTS_CA_BUNDLE'];
  const certificates = (pem: string) =>
    (pem.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).map(
      (one) => new X509Certificate(one).fingerprint256,
    );
  const fingerprint = (pem: string) => certificates(pem)[0];

  test('are trusted in addition to the system', async () => {
    const command = `for v in ${VARIABLES.join(' ')}; do eval "cmp \\$$v /etc/ssl/certs/ca-certificates.crt" && echo $v; done; cat $NODE_EXTRA_CA_CERTS $SSL_CERT_FILE`;
    const text = await said(command, { authorities });
    const found = certificates(text);
    expect(found[0]).toBe(fingerprint(authorities));
    expect(found.at(-1)).toBe(fingerprint(authorities));
    expect(found.length).toBeGreaterThan(20);
    expect(text.split('\n').slice(0, VARIABLES.length)).toEqual(VARIABLES);
  });

  test("in a runtime join the runtime's own, or this machine's where it has none", async () => {
    const other = makeRoot(join(folder, 'trusting'), 'trusting');
    const runtime = { name: 'trusting', root: other, image: null };
    const bare = certificates(await said('cat $SSL_CERT_FILE', { authorities, runtime }));
    expect([bare.length > 20, bare.at(-1)]).toEqual([true, fingerprint(authorities)]);
    mkdirSync(join(other, 'etc/ssl/certs'), { recursive: true });
    writeFileSync(join(other, 'etc/ssl/certs/ca-certificates.crt'), own);
    const joined = [fingerprint(own), fingerprint(authorities)];
    const both = await said('cat $SSL_CERT_FILE /etc/ssl/certs/ca-certificates.crt', {
      authorities,
      runtime,
    });
    expect(certificates(both)).toEqual([...joined, ...joined]);
  });

  test('are not read through a link out of the root', async () => {
    const linked = makeRoot(join(folder, 'linked'), 'linked');
    writeFileSync(join(folder, 'system.pem'), systems);
    mkdirSync(join(linked, 'etc/ssl/certs'), { recursive: true });
    symlinkSync(join(folder, 'system.pem'), join(linked, 'etc/ssl/certs/ca-certificates.crt'));
    const runtime = { name: 'linked', root: linked, image: null };
    expect(certificates(await said('cat $SSL_CERT_FILE', { authorities, runtime }))).not.toContain(
      fingerprint(systems),
    );
  });

  test('without them nothing is set', async () => {
    expect(await said('env | grep -E "CA_|CERT|SSL"; ls /opt/headrace', {})).toBe('agent\nbin\n');
  });
});
