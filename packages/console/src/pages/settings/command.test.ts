import type { App, Project } from '@headrace/client';
import { expect, test } from 'vitest';
import { commandOf } from './command.ts';

const metadata = { plan: 'pro', team: 'shop' };
const app = { id: 'prj_1', metadata } as unknown as App;
const project = { id: 'prj_2', kind: 'direct', metadata } as unknown as Project;

test('an app’s metadata is changed name by name, and names that are gone are taken away', () => {
  expect(commandOf(app, { name: "Bob's", externalId: null, metadata: { plan: 'pro', size: '2' } })).toBe(
    "headrace apps update prj_1 --name 'Bob'\\''s' --no-external-id --metadata 'size=2' --no-metadata 'team'",
  );
  expect(commandOf(app, { metadata: {} })).toBe(
    "headrace apps update prj_1 --no-metadata 'plan' --no-metadata 'team'",
  );
});

test('what the command of projects cannot say is a call', () => {
  expect(commandOf(project, { name: 'Shop', defaultBranch: 'main' })).toBe(
    "headrace projects update prj_2 --name 'Shop' --branch 'main'",
  );
  expect(commandOf(project, { metadata: { file: '@notes' } })).toBe(
    `echo '{"metadata":{"file":"@notes"}}' | headrace api PATCH /api/projects/prj_2 --input -`,
  );
  expect(commandOf(project, { metadata: {} })).toMatch(/\| headrace api PATCH/);
  expect(commandOf(project, { defaultBranch: null })).toMatch(/\| headrace api PATCH/);
});
