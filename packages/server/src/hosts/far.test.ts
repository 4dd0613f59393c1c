/** Hosts in a fleet: the processes of api and worker have a data folder and a certificate each, and meet over mTLS alone. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { askPeer, parseAddress, TlsCredentials } from '@headrace/runner/tls';
import { TestAuthority } from '../../../runner/src/tls/certificates.fixture.ts';
import { openStream } from '../events/events.fixture.ts';
import { closeFleet, startFleet } from '../fleet/fleet.fixture.ts';
import type { TestFleet } from '../fleet/fleet.fixture.ts';
import { ok, sh, until } from '../threads/threads.fixture.ts';
import { atHost } from './at-host.ts';
import { startTestHost } from './hosts.fixture.ts';
import type { TestHost } from './hosts.fixture.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let fleet: TestFleet;
let host: TestHost;
beforeEach(async () => {
  fleet = await startFleet({}, 'api');
  host = await startTestHost(fleet.s);
});
afterEach(async () => {
  await host?.stop();
  host?.remove();
  await closeFleet();
});

/** A thread at the host that is prepared, by a worker elsewhere. */
async function newThread() {
  const { s } = fleet;
  await fleet.beside('worker');
  // Nothing is accepted where no worker has a sandbox.
  await fleet.runner('node-1');
  const { project } = await ok(s.call('POST', '/api/projects', { name: 'n' }));
  const { thread } = await ok(
    s.call('POST', '/api/threads', { projectId: project.id, executionTarget: host.target() }),
  );
  const path = `/api/threads/${thread.id}`;
  await until(
    'the thread to be prepared',
    async () => (await ok(s.call('GET', path))).thread.initializationState === 'completed',
  );
  return { path, executionTarget: thread.executionTarget };
}

/** Sends a message; `ended` resolves with its run when that is over. */
async function say(path: string, content: string) {
  const { s } = fleet;
  const { run } = await ok(s.call('POST', `${path}/messages`, { content }));
  const ended = () =>
    until('the run to end', async () => {
      const { run: now } = await ok(s.call('GET', `${path}/runs/${run.id}`));
      return ['completed', 'failed', 'cancelled'].includes(now.status) && now;
    });
  return { id: run.id as string, ended };
}

test('a worker elsewhere drives a run at a host, and another api process asks it', async () => {
  const { path, executionTarget } = await newThread();
  const { s: other } = await fleet.beside('api');
  const run = await say(path, sh('echo over mTLS > far.txt'));
  expect(await run.ended()).toMatchObject({ status: 'completed' });
  expect(readFileSync(`${host.folder}/far.txt`, 'utf8')).toBe('over mTLS\n');
  const far = atHost(other.service.ctx, executionTarget);
  expect(await far.host!.client.hostStatus()).toMatchObject({ version: '1.2.3' });
});

test('the draft of a run is streamed by an api process to which its host is not connected', async () => {
  const { path } = await newThread();
  const { s: other } = await fleet.beside('api');
  const reader = await openStream(other, `/api/events/stream?threadId=${path.split('/').at(-1)}`);
  try {
    const run = await say(path, [sh('echo one'), sh('until [ -e go ]; do sleep 0.05; done')].join('\n'));
    const draft = await until('the draft', () =>
      reader.frames.find(({ event, data }) => event === 'draft' && data.content.includes('one')),
    );
    expect(draft.data.runId).toBe(run.id);
    writeFileSync(`${host.folder}/go`, '');
    expect(await run.ended()).toMatchObject({ status: 'completed' });
    await until('its end', () => reader.frames.some(({ event }) => event === 'draft.removed'));
  } finally {
    reader.close();
  }
});

test('certificates of runners and of strangers do not come in', async () => {
  const { authority, s } = fleet;
  const address = parseAddress(s.service.ctx.config.machines!.api.address)!;
  const ask = (files: ConstructorParameters<typeof TlsCredentials>[0]) =>
    askPeer({ ...address, tls: new TlsCredentials(files) }, 'api');
  await ask(authority.of('worker'));
  await expect(ask(authority.of('runner'))).rejects.toThrow('refuses this certificate');
  const strangers = new TestAuthority(authority.ca.replace(/\/[^/]*$/, ''), 'stranger');
  const stranger = strangers.sign('strange-worker', {
    names: ['DNS:localhost', 'IP:127.0.0.1', 'URI:headrace://role/worker'],
  });
  await expect(ask({ ...stranger, ca: authority.ca })).rejects.toThrow('refuses this certificate');
});

test('a certificate that is revoked comes in no more, and others do', async () => {
  const { authority, s } = fleet;
  const address = parseAddress(s.service.ctx.config.machines!.api.address)!;
  const names = ['DNS:localhost', 'IP:127.0.0.1', 'URI:headrace://role/worker'];
  const [stolen, kept] = ['stolen', 'kept'].map((name) => authority.sign(name, { names }));
  const ask = (files: typeof stolen) => askPeer({ ...address, tls: new TlsCredentials(files!) }, 'api');
  await ask(stolen);
  authority.revoke([stolen!]);
  await until('it to be refused', () =>
    ask(stolen).then(
      () => false,
      (error: Error) => error.message.includes('refuses this certificate'),
    ),
  );
  await ask(kept);
});
