/** Hosts in a fleet: the processes of api and worker have a data folder and a certificate each, and meet over mTLS alone. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { askPeer, parseAddress, TlsCredentials } from '@headrace/runner/tls';
import { TestAuthority } from '../../../runner/src/tls/certificates.fixture.ts';
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

test('a worker elsewhere drives a run at a host, and another api process asks it', async () => {
  const { s } = fleet;
  await fleet.beside('worker');
  // Nothing is accepted where no worker has a sandbox.
  await fleet.runner('node-1');
  const { s: other } = await fleet.beside('api');
  const { project } = await ok(s.call('POST', '/api/projects', { name: 'n' }));
  const { thread } = await ok(
    s.call('POST', '/api/threads', { projectId: project.id, executionTarget: host.target() }),
  );
  const path = `/api/threads/${thread.id}`;
  await until(
    'the thread to be prepared',
    async () => (await ok(s.call('GET', path))).thread.initializationState === 'completed',
  );
  const content = sh('echo over mTLS > far.txt');
  const { run } = await ok(s.call('POST', `${path}/messages`, { content }));
  const done = await until('the run to end', async () => {
    const { run: now } = await ok(s.call('GET', `${path}/runs/${run.id}`));
    return ['completed', 'failed', 'cancelled'].includes(now.status) && now;
  });
  expect(done).toMatchObject({ status: 'completed' });
  expect(readFileSync(`${host.folder}/far.txt`, 'utf8')).toBe('over mTLS\n');
  const far = atHost(other.service.ctx, thread.executionTarget);
  expect(await far.host!.client.hostStatus()).toMatchObject({ version: '1.2.3' });
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
