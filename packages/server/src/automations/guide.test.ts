/** Compares the guide's tables with the code's, and runs the guide's commands unchanged. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codesOf, commandsOf, hint, missing, readGuide, runCommands, valuesOf } from '../guide.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { Automation, Execution } from './schemas.ts';
import { admitted, executionChange, notAdmitted } from './state.ts';

let s: TestServer;
let folder: string;
beforeAll(async () => {
  s = await startTestServer();
  folder = await mkdtemp(join(tmpdir(), 'headrace-guide-'));
});
afterAll(async () => {
  await s?.close();
  await rm(folder, { recursive: true, force: true });
});

test("the guide has the code's table of states", () => {
  const [table] = /(?<=\| From \| To \| When \|\n\| --- \| --- \| --- \|\n)(?:\|.*\n)+/.exec(
    readGuide('automations.md'),
  )!;
  const shown = [...table.matchAll(/^\| (\S+) \| (\S+) \|/gm)].map(([, from, to]) => `${from} ${to}`);
  const changes = (['begin', 'refuse', 'complete', 'fail', 'cancel'] as const).flatMap((event) => {
    const { from, to } = executionChange(event);
    return from.map((one) => `${one} ${to}`);
  });
  expect(shown.toSorted()).toEqual([`– ${admitted}`, `– ${notAdmitted}`, ...changes].toSorted());
});

test("the guide has the code's reasons", () => {
  for (const [header, schema] of [
    ['| `skippedReason` |', Execution.properties.skippedReason],
    ['| `disabledReason` |', Automation.properties.disabledReason],
  ] as const)
    expect(codesOf('automations.md', header)).toEqual(valuesOf(schema));
});

test.skipIf(missing.length > 0)(
  `the guide's commands start executions by hand, by an event and by hooks${hint}`,
  async () => {
    const env = { API: `${s.base}/api`, KEY: s.key };
    const text = await runCommands(commandsOf('automations.md').join('\n'), env, folder);
    expect(text.trimEnd().split('\n')).toEqual([
      '{"trigger":"manual","status":"completed"}',
      '{"title":"Watering","createdByAutomation":true}',
      '["2027-03-28T01:00:00.000Z","2027-03-29T00:30:00.000Z","2027-03-30T00:30:00.000Z"]',
      '[{"kind":"event","eventType":"run.failed"}]',
      '{"trigger":"webhook","duplicate":false}',
      '{"trigger":"webhook","duplicate":true}',
      '{"shortId":"FRONT-END-9","organizationSlug":"acme","projectSlug":"front-end"}',
      'Fix ReferenceError: blooopy is not defined.',
      '{"disabled":true,"disabledReason":"user","nextRunAt":null}',
      '"Look"',
    ]);
  },
);
