/** What happens to the service and its data, as a page sees it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@headrace/client';
import { expect } from 'vitest';
import { startService } from '../../harness/service.ts';
import { makeApp, startGround } from '../ground.ts';
import { atRest, open, signedIn, textOf, visitAt } from '../page.ts';
import { browserTest, useBrowser } from '../rig.ts';
import { QUIET_PAGE, untilLive, untilRight } from '../stream-faults.ts';

const rig = useBrowser();
const LIMIT_MS = 60_000;

/** A port that is free now. */
async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  server.close();
  return String(port);
}

browserTest('a service that is killed and started again is followed further', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'headrace-console-'));
  const env = { HEADRACE_PORT: await freePort() };
  const first = await startService(scratch, { env });
  let second: typeof first | undefined;
  try {
    const client = createClient({ baseUrl: first.base, key: first.key });
    const app = await makeApp(client);
    await client.threads.create(app.id, { title: 'Before' });
    const ground = {
      client,
      base: first.base,
      state: await signedIn(first.base),
      service: first,
      stop: first.stop,
    };
    const visit = await visitAt(rig, QUIET_PAGE, ground);
    visit.allows(/net::ERR/, /: 503$/);
    await untilLive(visit.page);
    await first.kill9();
    await visit.page.getByText(/^Offline\. This is from/).waitFor();
    second = await startService(scratch, { env, dataDir: first.dataDir, key: first.key });
    await client.threads.create(app.id, { title: 'After' });
    await visit.page.locator('[data-live="live"]').waitFor({ timeout: LIMIT_MS });
    await untilRight({ ground, page: visit.page });
  } finally {
    await second?.stop();
    await first.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
});

browserTest('a page that slept longer than the log is kept reads everything again', async () => {
  const ground = await startGround({ env: { HEADRACE_EVENT_RETENTION_SECONDS: '5' } });
  try {
    const app = await makeApp(ground.client);
    await ground.client.threads.create(app.id, { title: 'Before' });
    const visit = await visitAt(rig, QUIET_PAGE, ground);
    visit.allows(/net::ERR/, /: 410$/);
    await untilLive(visit.page);
    await visit.context.setOffline(true);
    await ground.client.threads.create(app.id, { title: 'Missed' });
    const head = await ground.client.events.head({});
    // The log forgets what is older than five seconds.
    await expect
      .poll(
        () =>
          ground.client.events.list({}, { cursor: head }).then(
            () => 'kept',
            (error: Error) => error.message,
          ),
        { timeout: LIMIT_MS, interval: 500 },
      )
      .not.toBe('kept');
    await visit.context.setOffline(false);
    await untilLive(visit.page);
    await untilRight({ ground, page: visit.page });
    expect(await textOf(visit.page)).toMatch(/Some events were missed/);
    await visit.close();
  } finally {
    await ground.stop();
  }
});

browserTest('a file of one line of eight million characters opens', async () => {
  const ground = await startGround();
  try {
    const app = await makeApp(ground.client, 'Long', [
      { path: 'long.js', content: `${'x'.repeat(8_000_000)}\n` },
    ]);
    const visit = await rig.visit(ground);
    const from = performance.now();
    await open(visit, `/console/apps/${app.id}/sources/${app.sourceId}?file=long.js`);
    await atRest(visit);
    expect(performance.now() - from).toBeLessThan(10_000);
    expect(await textOf(visit.page, 'main')).toMatch(/long\.js/);
    await visit.page.keyboard.press('?');
    await visit.page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await visit.close();
  } finally {
    await ground.stop();
  }
});
