/** Whatever the API offers can be done in a browser, or it is said here why not. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vite';
import { expect, test } from 'vitest';
import { TABLE } from '../../packages/client/src/generated/table.ts';

const SOURCES = join(import.meta.dirname, '../../packages/console/src');

/** What no page calls: who calls it, or what the pages call instead. */
const NOT_BY_PAGES: Record<string, string> = {
  'automations.receiveHook': 'senders of hooks call it',
  'scm.receiveWebhook': 'GitHub calls it',
  'health.get': 'load balancers call it; the system page shows the same',
  'health.ready': 'load balancers call it; the system page shows the same',
  'sources.archive': 'a link downloads it',
  'builds.artifact': 'a link downloads it',
  'builds.logs': 'the reader of logs asks for it',
  'setups.logs': 'the reader of logs asks for it',
  'apps.delete': '`projects.delete` is the same for apps and projects',
  'threads.create': '`threads.createDirect` is the same for apps and projects',
  'threads.list': '`threads.listDirect` is the same for apps and projects',
  'threads.listAll': '`threads.listDirect` has the threads of apps and projects',
  'head.get': '`projects.get` has the head',
  'environment.get': 'the list has the same',
  'environment.getOrganization': 'the list has the same',
  'skills.get': 'the list has the same',
  'skills.getOrganization': 'the list has the same',
};

const operations = (() => {
  let resource = '';
  return TABLE.trim()
    .split('\n')
    .map((line) => {
      const [given, method] = line.split(' ', 1)[0]!.split('.') as [string, string];
      resource = given || resource;
      return `${resource}.${method}`;
    });
})();

/** `threads.update` of each `….threads.update`, as code: samples in texts are no calls. */
function called(): Set<string> {
  const found = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { object, property } = node as { object?: Member; property?: Member };
    if (property?.name && object?.property?.name) found.add(`${object.property.name}.${property.name}`);
    for (const part of Object.values(node)) walk(part);
  };
  for (const path of globSync('**/*.{ts,tsx}', { cwd: SOURCES }))
    if (!/\.(test|fixture)\.tsx?$/.test(path))
      walk(parseAst(readFileSync(join(SOURCES, path), 'utf8'), { lang: path.endsWith('x') ? 'tsx' : 'ts' }));
  return found;
}

interface Member {
  name?: string;
  property?: Member;
}

test('every operation has a page that calls it', () => {
  const calls = called();
  const missing = operations.filter((one) => !calls.has(one));
  expect(missing.filter((one) => !(one in NOT_BY_PAGES))).toEqual([]);
  // The list itself stays true.
  expect(Object.keys(NOT_BY_PAGES).filter((one) => !missing.includes(one))).toEqual([]);
});
