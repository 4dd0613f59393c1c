import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JournalEntry, TaskRequest } from '../protocol.ts';
import { fakeAgent } from './fake-agent.fixture.ts';
import { Tasks } from './tasks.ts';
import { endOf, entriesOf, makeBench, outputOf, scratch, tarStream } from '../runner.fixture.ts';
import { EgressProxy } from '../egress/proxy.ts';
import { PUBLIC, testOutside, tlsServer } from '../egress/outside.fixture.ts';

const bench = await makeBench();
const folder = scratch();
let counter = 0;

type Wanted =
  | { kind: 'exec' | 'build' | 'preview'; command: string; egress?: string[] }
  | { kind: 'turn'; code: string; egress?: string[] };

/**
 * A runner's tasks, whose internet is one TLS server on the loopback that answers each request with its host
 * name and the request.
 */
async function inside(
  names: Record<string, string[]> = { 'good.example': [PUBLIC], 'a.wild.example': [PUBLIC] },
) {
  const { port, cert } = await tlsServer(['good.example', 'a.wild.example'], (socket) => {
    let request = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      request += part;
      if (!request.includes('\r\n\r\n')) return;
      const body = `${/^host: (\S+)/im.exec(request)?.[1]} ${request.split(' ', 1)[0]!}`;
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
    });
  });
  const outside = testOutside(port, names);
  const proxy = new EgressProxy(outside);
  const tasks = new Tasks(bench!.host, bench!.workspaces, bench!.gateways, proxy);
  onTestFinished(async () => {
    await Promise.all(tasks.all().map((task) => tasks.remove(task.id)));
  });
  const files = { 'ca.pem': cert };
  const start = async (wanted: Wanted) => {
    const id = `egr_${++counter}`,
      workspaceId = `thr_egr_${counter}`,
      { egress } = wanted;
    const common = { timeoutMs: 30_000, ...(egress && { egress }) };
    const request: TaskRequest =
      wanted.kind === 'turn'
        ? {
            ...common,
            kind: 'turn',
            workspaceId,
            agent: fakeAgent(wanted.code),
            prompt: 'x',
            permissions: 'allow',
            gateway: true,
          }
        : wanted.kind === 'exec'
          ? { ...common, kind: 'exec', workspaceId, command: wanted.command }
          : wanted.kind === 'build'
            ? { ...common, kind: 'build', command: wanted.command, outputDirectory: '.' }
            : { ...common, kind: 'preview', command: wanted.command, port: 3000 };
    if ('workspaceId' in request) await bench!.workspaces.put(workspaceId, tarStream(files));
    const { task } = tasks.start(id, request);
    if (!('workspaceId' in request)) await task.putSource(tarStream(files));
    return task;
  };
  return {
    start,
    outside,
    proxy,
    run: async (wanted: Wanted): Promise<JournalEntry[]> => entriesOf(await start(wanted)),
  };
}

const FETCH =
  "NODE_EXTRA_CA_CERTS=ca.pem node -e 'fetch(process.argv[1]).then((r) => r.text()).then(console.log, (e) => console.log(String(e.cause)))'";
const CURL = 'curl -sS --cacert ca.pem';
const refusals = (entries: JournalEntry[]) =>
  entries.flatMap((e) => (e.type === 'refused' ? [[e.host, e.port, e.reason]] : []));
const node = (script: string): string => `node -e "const net = require('net'); ${script}"`;

describe.skipIf(!bench)('a sandbox with hosts', () => {
  test.each(['exec', 'build', 'preview'] as const)(
    '%s: reaches them with what programs know of proxies, and nothing else',
    async (kind) => {
      const { run, outside, proxy } = await inside();
      const command = `${CURL} https://good.example/; echo; ${FETCH} https://a.wild.example/x; ${CURL} https://other.example/ 2>&1; ${FETCH} https://93.184.215.14/; ${CURL} http://good.example/`;
      const entries = await run({ kind, command, egress: ['good.example', '*.wild.example'] });
      const [first, second, ...rest] = outputOf(entries).split('\n');
      expect([first, second, endOf(entries).exitCode]).toEqual(['good.example GET', 'a.wild.example GET', 0]);
      expect(rest.join('\n')).toMatch(
        /^curl: \(56\) .*403\nError: .*\nRefused by the setting egress of this project \(not_tls\)\. Only TLS passes: use the https URL/,
      );
      expect(refusals(entries)).toEqual([
        ['other.example', 443, 'not_listed'],
        [PUBLIC, 443, 'address'],
        ['good.example', 80, 'not_tls'],
      ]);
      expect([outside.asked, proxy.counters]).toEqual([
        ['good.example', 'a.wild.example'],
        { allowed: 2, refused: 3 },
      ]);
    },
  );

  test('a turn has the model gateway beside it, without the proxy', async () => {
    const { start, proxy } = await inside();
    const path = join(folder, 'gateway');
    const gateway = createServer((socket) => {
      socket
        .on('error', () => {})
        .on('data', () =>
          socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nmodel'),
        );
    });
    await new Promise<void>((resolve) => {
      gateway.listen(path, resolve);
    });
    onTestFinished(() => {
      gateway.close();
    });
    bench!.gateways.register('w', path);
    const code = `on['session/prompt'] = async () => {
      const said = [];
      for (const url of ['http://127.0.0.1:4401/x', 'https://good.example/', 'https://other.example/']) said.push(await fetch(url).then((r) => r.text(), (e) => e.cause.code));
      text(said.join(' '));
      return { stopReason: 'end_turn' };
    };`;
    const entries = await entriesOf(await start({ kind: 'turn', code, egress: ['good.example'] }));
    // The connection got as far as the certificate, which the agent does not trust.
    expect(entries.flatMap((e) => (e.type === 'text' ? [e.content] : [])).at(-1)).toMatch(
      /^model (DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT\w*) \w+$/,
    );
    expect([endOf(entries).error, refusals(entries), proxy.counters]).toEqual([
      null,
      [['other.example', 443, 'not_listed']],
      { allowed: 1, refused: 1 },
    ]);
  });

  test('is told of the proxy, and what to reach without it', async () => {
    const { start } = await inside();
    const task = await start({
      kind: 'turn',
      code: "on['session/prompt'] = () => { text([process.env.NO_PROXY, process.env.HTTPS_PROXY, process.env.https_proxy, process.env.NODE_USE_ENV_PROXY].join(' ')); return { stopReason: 'end_turn' }; };",
      egress: ['good.example'],
    });
    expect((await entriesOf(task)).flatMap((e) => (e.type === 'text' ? [e.content] : [])).at(-1)).toBe(
      '127.0.0.1,localhost,::1 http://127.0.0.1:4402 http://127.0.0.1:4402 1',
    );
  });

  test('1,000 connections at once are no more than 64, and the proxy goes on', async () => {
    const { run, proxy } = await inside();
    const flood = node(
      "let closed = 0; for (let i = 0; i < 1000; i++) net.connect(4402, '127.0.0.1').on('error', () => {}).on('close', () => { if (++closed === 936) { console.log('closed'); process.exit(); } }).resume();",
    );
    // The proxy frees a place when it hears of the end of its connection, which may be after the flood's own end.
    const entries = await run({
      kind: 'exec',
      command: `${flood}; until ${CURL} https://good.example/ 2>&-; do sleep 0.05; done`,
      egress: ['good.example'],
    });
    expect([outputOf(entries), refusals(entries), proxy.counters]).toEqual([
      'closed\ngood.example GET',
      [['', 0, 'limit']],
      { allowed: 1, refused: 0 },
    ]);
  });

  test('100 refusals are told one by one, then that there were more', async () => {
    const { run, proxy } = await inside();
    const ask = node(
      "const next = (i) => { if (i === 150) return; net.connect(4402, '127.0.0.1').on('close', () => next(i + 1)).resume().write('CONNECT n' + i + '.' + 'x'.repeat(4000) + ':443 HTTP/1.1\\r\\n\\r\\n'); }; next(0);",
    );
    const told = refusals(await run({ kind: 'exec', command: ask, egress: ['good.example'] }));
    expect(told.length).toBe(101);
    expect(told[0]).toEqual([`n0.${'x'.repeat(250)}`, 443, 'not_listed']);
    expect(told.at(-1)).toEqual(['', 0, 'more']);
    expect(proxy.counters.refused).toBe(150);
  });

  test('its proxy ends with it', async () => {
    const { start, outside } = await inside();
    const task = await start({
      kind: 'exec',
      command: node(
        "net.connect(4402, '127.0.0.1').on('data', () => console.log('open')).write('CONNECT good.example:443 HTTP/1.1\\r\\n\\r\\n')",
      ),
      egress: ['good.example'],
    });
    for await (const entry of task.journal.read(0, AbortSignal.timeout(20_000))) {
      if (entry.type === 'output') void task.cancel();
      if (entry.type === 'end') expect(entry.outcome).toBe('cancelled');
    }
    await expect.poll(() => outside.sockets.map((socket) => socket.destroyed)).toEqual([true]);
  });
});

describe.skipIf(!bench)('a sandbox without', () => {
  test.each([
    ['none', undefined],
    ['an empty list', []],
  ])('%s has no port, no socket and no setting', async (_name, egress) => {
    const { run, outside, proxy } = await inside();
    const command = `${node("net.connect(4402, '127.0.0.1').on('error', (e) => console.log(e.code)).on('connect', () => console.log('open'))")}; ls -A /run; env | grep -i -E 'proxy' ; find / -type s 2>/dev/null; ${FETCH} https://good.example/`;
    const entries = await run({ kind: 'exec', command, ...(egress && { egress }) });
    expect(outputOf(entries, 'stdout')).toMatch(/^ECONNREFUSED\n(?:Error: getaddrinfo )?\S+.*\n$/);
    expect([refusals(entries), outside.asked, proxy.counters]).toEqual([[], [], { allowed: 0, refused: 0 }]);
  });
});
