import { buildGitCommit } from '../../git/build-commit.ts';
import { resolveCommit } from '../../git/read.ts';
import { runGit } from '../../git/run-git.ts';
import { startTestServer } from '../../service.fixture.ts';
import { openRepository } from '../index.ts';
import { behavesAsProvider } from '../provider-behaviour.fixture.ts';
import type { Subject } from '../provider-behaviour.fixture.ts';
import { localFolder } from './folders.ts';

const REPOSITORIES = '/api/source-control/scm/repositories';

async function open(): Promise<Subject & { close(): Promise<void> }> {
  const s = await startTestServer({ HEADRACE_ROLES: 'api' });
  const { body } = await s.call('POST', REPOSITORIES, {
    name: 'site',
    files: [{ path: 'README.md', content: '# Site\n' }],
  });
  const { id } = body.repository as { id: string };
  const { provider, at } = await openRepository(s.service.ctx, id);
  const folder = localFolder(s.service.ctx.config, id);
  const tip = (branch: string) => resolveCommit(folder, branch);
  const post = async (path: string, content: unknown) => {
    const answer = await s.call('POST', `${REPOSITORIES}/${id}${path}`, content);
    if (answer.status !== 201) throw new Error(answer.text);
  };
  /** Through the API; whoever holds the row has it as it was. */
  const patch = async (change: { requiredChecks?: string[]; mergeMethods?: string[] }) => {
    await s.call('PATCH', `${REPOSITORIES}/${id}`, change);
    Object.assign(at.repository, (await openRepository(s.service.ctx, id)).at.repository);
  };
  return {
    provider,
    at,
    async commit(branch, files) {
      const sha = await buildGitCommit(folder, {
        parents: [(await tip(branch)) ?? (await tip('main'))!],
        changes: Object.entries(files).map(([path, content]) => [
          Buffer.from(path),
          content === null ? null : { mode: '100644', content: path },
        ]),
        contents: (async function* () {
          for (const [key, content] of Object.entries(files))
            if (content !== null) yield { key, bytes: Buffer.from(content) };
        })(),
        message: `To ${branch}\n`,
        person: { name: 'Grace', email: 'grace@example.test' },
        date: new Date(),
        signingKey: null,
      });
      await runGit(folder, ['update-ref', `refs/heads/${branch}`, sha]);
      return sha;
    },
    tip,
    report: (sha, { name, ...status }) => post(`/commits/${sha}/statuses`, { context: name, ...status }),
    requireCheck: (name) => patch({ requiredChecks: name === null ? [] : [name] }),
    allowMethods: (mergeMethods) => patch({ mergeMethods }),
    review: (number, text) => post(`/pull-requests/${number}/comments`, { body: text, path: 'a', line: 1 }),
    close: () => s.close(),
  };
}

behavesAsProvider('the built-in provider', open);
