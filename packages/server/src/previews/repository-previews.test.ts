/** Previews of a project with a repository: they have the links of the commit that they show. */
import { afterAll, expect, test } from 'vitest';
import { commitFiles } from '../git/git.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import { ok } from '../threads/threads.fixture.ts';
import { newBoundProject, preparedThread } from '../workspaces/repositories.fixture.ts';
import { hurry } from '../workspaces/workspaces.fixture.ts';
import { until, visit } from './previews.fixture.ts';

const server = await startTestServer();
const calm = hurry(server);
afterAll(async () => {
  calm();
  await server.close();
});
const status = server.service.ctx.runnerStatus();

/** Answers with the links at its top, the file's text last. */
const SERVER = `import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:http';
createServer((req, res) => {
  const links = readdirSync('.', { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  const targets = links.map(({ name }) => name + '>' + readlinkSync(name)).sort();
  res.end([...targets, readFileSync('a', 'utf8')].join(' '));
}).listen(3210);
`;

test.skipIf(!status?.ok)('a preview of the head has the links of newer heads', async () => {
  const bound = await newBoundProject(server, null);
  const commit = (a: string, links: Record<string, string>) =>
    commitFiles(bound.folder, 'main', [
      { path: 'server.mjs', content: SERVER },
      { path: 'a', content: a },
      ...Object.entries(links).map(([path, content]) => ({ path, content, mode: '120000' as const })),
    ]);
  await commit('1', { kept: 'a', moved: 'a', gone: 'a' });
  await preparedThread(server, bound.id);
  const at = `${bound.at}/previews`;
  const order = { command: 'node server.mjs', port: 3210 };
  const { preview } = await ok(server.call('POST', at, order));
  expect((await ok(server.call('GET', `${at}/${preview.id}?waitSeconds=30`))).preview.status).toBe('ready');
  const shown = async () => (await visit(server, preview.url)).text;
  expect(await shown()).toBe('gone>a kept>a moved>a 1');
  await commit('2', { kept: 'a', moved: 'server.mjs', added: 'a' });
  await preparedThread(server, bound.id);
  await until(async () => (await shown()) === 'added>a kept>a moved>server.mjs 2', 'the second head');
  await commit('2', { kept: 'a' });
  await preparedThread(server, bound.id);
  await until(async () => (await shown()) === 'kept>a 2', 'the third head, which differs in its links alone');
});
