import { behavesAsProvider } from '../provider-behaviour.fixture.ts';
import type { Subject } from '../provider-behaviour.fixture.ts';
import { atInstallation, atRepository } from './at.fixture.ts';
import { githubProvider } from './provider.ts';
import { startGithubStandIn } from './stand-in.fixture.ts';
import type { GithubStandIn } from './stand-in.fixture.ts';

async function open(): Promise<Subject & { close(): Promise<void> }> {
  const github: GithubStandIn = await startGithubStandIn();
  const repository = await github.makeRepository();
  const at = atInstallation(github, { app: github.app });
  let lastCheck = 0;
  return {
    provider: githubProvider,
    at: atRepository(at, repository),
    commit: (branch, files) => repository.commit(branch, files),
    tip: (branch) => repository.tip(branch),
    async report(sha, { name, state, log }) {
      const id = ++lastCheck;
      if (name === 'lint') {
        repository.statuses.push({ sha, context: name, state, description: null, url: null });
        return;
      }
      const [status, conclusion] = state === 'pending' ? ['in_progress', null] : ['completed', state];
      repository.checks.push({
        id,
        sha,
        name,
        status,
        conclusion: conclusion!,
        app: 'github-actions',
      });
      if (log) repository.logs.set(id, log);
    },
    async requireCheck(name) {
      repository.requiredChecks = name === null ? [] : [name];
    },
    async allowMethods(methods) {
      repository.mergeMethods = new Set(methods);
    },
    async review(number, body) {
      const pull = repository.pulls.find((one) => one.number === number)!;
      const comment = {
        id: 'C_1',
        author: 'grace',
        association: 'MEMBER',
        body,
        createdAt: new Date().toISOString(),
      };
      const id = `PRRT_${pull.threads.length}`;
      pull.threads.push({ id, isResolved: false, path: 'a.txt', line: 1, comments: [comment] });
    },
    close: () => github.close(),
  };
}

behavesAsProvider('GitHub', open);
