import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createTlsServer, TlsCredentials } from '@headrace/runner/tls';
import type { TlsFiles, TlsRole } from '@headrace/runner/tls';
import { readConfig } from '@headrace/server/config.ts';
import { TestAuthority } from '../../../runner/src/tls/certificates.fixture.ts';
import { examineLink } from './examine-link.ts';

const folder = mkdtempSync(join(tmpdir(), 'headrace-link-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const authority = new TestAuthority(folder);
const [worker, runner] = [authority.of('worker'), authority.of('runner')];

async function listening(files: TlsFiles, lets: TlsRole): Promise<number> {
  const server = createTlsServer({ tls: new TlsCredentials(files), roles: [lets] }, (_, res) => res.end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

function examine(files: TlsFiles, changed: Record<string, string> = {}) {
  const config = readConfig(
    {
      HEADRACE_ROLES: 'runner',
      HEADRACE_TLS_CERT_FILE: files.cert,
      HEADRACE_TLS_KEY_FILE: files.key,
      HEADRACE_TLS_CA_FILE: files.ca,
      HEADRACE_WORKER_ADDRESS: 'localhost:1',
      HEADRACE_RUNNER_ADDRESS: 'localhost:4403',
      ...changed,
    },
    () => true,
  );
  return examineLink(config, config.machines!);
}

test('a runner whose workers answer', async () => {
  const port = await listening(worker, 'runner');
  expect(await examine(runner, { HEADRACE_WORKER_ADDRESS: `localhost:${port}` })).toEqual([
    {
      name: 'certificate',
      ok: true,
      detail: expect.stringMatching(/^runner, for localhost, 127\.0\.0\.1, until 20/),
      warnings: [],
    },
    { name: `worker localhost:${port}`, ok: true, detail: 'answers', warnings: [] },
  ]);
});

test('a certificate of another role, for another host, that expires soon or has', async () => {
  const [wrong] = await examine(worker, { HEADRACE_RUNNER_ADDRESS: 'node-7:4403' });
  expect(wrong).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/is of the role worker, not of runner.*is not for the host node-7/),
  });
  const names = ['DNS:localhost', 'URI:headrace://role/runner'];
  const [soon] = await examine(authority.sign('soon', { names, days: 5 }));
  expect(soon).toMatchObject({ ok: true, warnings: ['it expires in 4 days: renew it'] });
  const [old] = await examine(authority.sign('old', { names, days: -1 }));
  expect(old).toMatchObject({ ok: false, detail: expect.stringMatching(/has expired/), warnings: [] });
  expect(await examine({ ...runner, key: worker.key })).toMatchObject([
    { name: 'certificate', ok: false, detail: expect.stringMatching(/is not the key of/) },
  ]);
});

test('a list of revoked certificates that is out of date, or soon is', async () => {
  const examined = async (days: number) =>
    (await examine(runner, { HEADRACE_TLS_CRL_FILE: authority.revoke([], { days }) }))[0];
  expect(await examined(5)).toMatchObject({
    ok: true,
    warnings: [expect.stringMatching(/list\.crl is out of date in 4 days: replace it/)],
  });
  expect(await examined(-1)).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/list\.crl is out of date since 2025.*replace it/),
  });
});

test('workers that do not answer, are none, or refuse', async () => {
  const ports = await Promise.all([
    listening(runner, 'runner'),
    listening(worker, 'api'),
    listening(new TestAuthority(mkdtempSync(join(folder, 's'))).of('worker'), 'runner'),
  ]);
  const [, ...found] = await examine(runner, {
    HEADRACE_WORKER_ADDRESS: [1, ...ports].map((port) => `localhost:${port}`).join(','),
  });
  expect(found.map(({ ok }) => ok)).toEqual([false, false, false, false]);
  expect(found.map(({ detail }) => detail)).toEqual([
    expect.stringMatching(/ECONNREFUSED/),
    expect.stringMatching(/no certificate of the role worker/),
    expect.stringMatching(/It refuses this certificate/),
    expect.stringMatching(/self-signed|unable to verify/),
  ]);
});

test('an api process that others cannot call for the hosts that connect to it', async () => {
  const examined = async (address: string) =>
    (await examine(authority.of('api'), { HEADRACE_ROLES: 'api', HEADRACE_API_ADDRESS: address }))[0]!
      .warnings;
  expect(await examined('localhost:4404')).toEqual([]);
  expect(await examined('node-7:4404')).toEqual([
    expect.stringMatching(/is not for node-7, .*HEADRACE_API_ADDRESS/),
  ]);
});
