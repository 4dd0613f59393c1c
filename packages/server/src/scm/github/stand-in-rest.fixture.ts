/** The stand-in's REST: https://docs.github.com/en/rest, as far as Headrace asks. */
import type { StandInPull, StandInRepository } from './stand-in-repository.fixture.ts';

export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Who asks: a person by token, or an App's installation. */
export interface Actor {
  kind: 'user' | 'installation' | 'app';
  login: string;
  id: number;
  permissions: Record<string, string>;
}

export interface RestCall {
  actor: Actor;
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
  origin: string;
  /** Of a path with owner and repo. */
  repository: StandInRepository;
  repositories: StandInRepository[];
}

const DOCS = 'https://docs.github.com/rest';
export const refusal = (status: number, message: string, errors?: unknown[]): Answer => ({
  status,
  body: { message, documentation_url: DOCS, ...(errors ? { errors } : {}) },
});
const NOT_FOUND = refusal(404, 'Not Found');
const EMPTY = refusal(409, 'Git Repository is empty.');

const pageOf = <T>(all: T[], query: Record<string, unknown>): T[] => {
  const size = Number(query.per_page ?? 30);
  return all.slice((Number(query.page ?? 1) - 1) * size, Number(query.page ?? 1) * size);
};

const repositoryBody = (origin: string, one: StandInRepository, actor: Actor, isWhole: boolean) => ({
  id: one.id,
  node_id: `R_${one.id}`,
  name: one.name,
  full_name: one.fullName,
  owner: { login: one.owner, id: 1, type: 'Organization' },
  private: one.isPrivate,
  archived: one.archived,
  html_url: `${origin}/${one.fullName}`,
  clone_url: `${origin}/${one.fullName}.git`,
  default_branch: one.defaultBranch,
  permissions: { admin: false, push: one.canPush, pull: true },
  ...(isWhole
    ? {
        allow_merge_commit: one.mergeMethods.has('merge'),
        allow_squash_merge: one.mergeMethods.has('squash'),
        allow_rebase_merge: one.mergeMethods.has('rebase'),
      }
    : {}),
  ...(actor.kind === 'app' ? {} : { visibility: one.isPrivate ? 'private' : 'public' }),
});

async function pullBody({ origin, repository, actor }: RestCall, pull: StandInPull, isWhole: boolean) {
  await repository.refresh(pull);
  noteChange(pull);
  const base = await repository.tip(pull.baseRef);
  const repo = repositoryBody(origin, repository, actor, false);
  const isOpen = pull.state === 'open';
  const tree = isWhole && isOpen && base ? await repository.mergedTree(base, pull.headSha) : null;
  return {
    id: repository.id * 1000 + pull.number,
    node_id: pull.nodeId,
    number: pull.number,
    state: pull.state,
    title: pull.title,
    body: pull.body,
    draft: pull.draft,
    html_url: `${origin}/${repository.fullName}/pull/${pull.number}`,
    user: { login: actor.login, id: actor.id },
    head: { ref: pull.headRef, sha: pull.headSha, label: `${repository.owner}:${pull.headRef}`, repo },
    base: { ref: pull.baseRef, sha: base ?? '', label: `${repository.owner}:${pull.baseRef}`, repo },
    merged_at: pull.mergedAt,
    updated_at: pull.updatedAt,
    merge_commit_sha: pull.mergeCommitSha,
    ...(isWhole
      ? {
          merged: pull.mergedAt !== null,
          mergeable: isOpen ? tree !== null : null,
          mergeable_state: 'unknown',
        }
      : {}),
  };
}

function noteChange(pull: StandInPull): void {
  const { updatedAt: _, was: __, threads, ...rest } = pull;
  const now = JSON.stringify([rest, threads.map(({ isResolved: ___, ...thread }) => thread)]);
  if (now === pull.was) return;
  pull.was = now;
  pull.updatedAt = `${new Date().toISOString().slice(0, -5)}Z`;
}

const pullOf = ({ repository, params }: RestCall) =>
  repository.pulls.find(({ number }) => String(number) === params.pull_number);

async function createPull(call: RestCall): Promise<Answer> {
  const { repository, body } = call;
  const { head, base, title } = body as Record<string, string>;
  const said = (message: string, more: object = {}) =>
    refusal(422, 'Validation Failed', [{ resource: 'PullRequest', code: 'custom', message, ...more }]);
  const [headSha, baseSha] = [await repository.tip(head!), await repository.tip(base!)];
  for (const [field, sha] of [
    ['base', baseSha],
    ['head', headSha],
  ])
    if (sha === null)
      return refusal(422, 'Validation Failed', [{ resource: 'PullRequest', field, code: 'invalid' }]);
  if (repository.pulls.some((one) => one.state === 'open' && one.headRef === head && one.baseRef === base))
    return said(`A pull request already exists for ${repository.owner}:${head}.`);
  if (await repository.isAncestor(headSha!, baseSha!)) return said(`No commits between ${base} and ${head}`);
  const number = Math.max(0, ...repository.pulls.map((one) => one.number), ...repository.issues.keys()) + 1;
  const pull: StandInPull = {
    number,
    nodeId: `PR_${repository.id}_${number}`,
    title: title!,
    body: (body['body'] as string | undefined) ?? null,
    state: 'open',
    draft: body['draft'] === true,
    headRef: head!,
    headSha: headSha!,
    baseRef: base!,
    mergedAt: null,
    mergeCommitSha: null,
    queued: false,
    updatedAt: '',
    was: '',
    threads: [],
    reviews: [],
  };
  repository.pulls.push(pull);
  return { status: 201, body: await pullBody(call, pull, true) };
}

async function updatePull(call: RestCall): Promise<Answer> {
  const pull = pullOf(call);
  if (!pull) return NOT_FOUND;
  const { title, body, state, base } = call.body as Record<string, string | undefined>;
  if (base !== undefined && (await call.repository.tip(base)) === null)
    return refusal(422, 'Validation Failed', [{ resource: 'PullRequest', field: 'base', code: 'invalid' }]);
  if (state === 'open' && pull.state === 'closed' && !(await call.repository.tip(pull.headRef)))
    return refusal(422, 'Validation Failed', [
      { message: 'state cannot be changed. The branch was deleted.' },
    ]);
  if (title !== undefined) pull.title = title;
  if (body !== undefined) pull.body = body;
  if (base !== undefined) pull.baseRef = base;
  if (state !== undefined && pull.mergedAt === null) pull.state = state as 'open' | 'closed';
  return { status: 200, body: await pullBody(call, pull, true) };
}

/** Why it is not merged, in GitHub's words. */
function mergeRefusal(repository: StandInRepository, pull: StandInPull, method: string): Answer | null {
  if (pull.draft) return refusal(405, 'Pull Request is still a draft');
  if (repository.queues.has(pull.baseRef))
    return refusal(
      405,
      'Repository rule violations found\n\nChanges must be made through the merge queue\n\n',
    );
  const missing = repository.requiredChecks.find(
    (one) => repository.newestCheck(one, pull.headSha) !== 'success',
  );
  if (missing) return refusal(405, `Required status check "${missing}" is expected.`);
  if (repository.requiresReview)
    return refusal(405, 'At least 1 approving review is required by reviewers with write access.');
  if (repository.protectedBranches.has(pull.baseRef))
    return refusal(405, 'You’re not authorized to push to this branch.');
  if (!repository.mergeMethods.has(method))
    return refusal(
      405,
      method === 'merge'
        ? 'Merge commits are not allowed on this repository.'
        : `${method === 'squash' ? 'Squash' : 'Rebase'} merges are not allowed on this repository.`,
    );
  return null;
}

async function merge(call: RestCall): Promise<Answer> {
  const { repository, body } = call;
  const pull = pullOf(call);
  if (!pull) return NOT_FOUND;
  await repository.refresh(pull);
  if (pull.state !== 'open') return refusal(405, 'Pull Request is not mergeable');
  if (body['sha'] !== undefined && body['sha'] !== pull.headSha)
    return refusal(409, 'Head branch was modified. Review and try the merge again.');
  const method = (body['merge_method'] as string | undefined) ?? 'merge';
  const refused = mergeRefusal(repository, pull, method);
  if (refused) return refused;
  const head = pull.headSha;
  const base = (await repository.tip(pull.baseRef))!;
  const tree = await repository.mergedTree(base, head);
  if (tree === null) return refusal(405, 'Pull Request is not mergeable');
  const title = (body['commit_title'] as string | undefined) ?? `Merge pull request #${pull.number}`;
  const message = [title, (body['commit_message'] as string | undefined) ?? pull.title].join('\n\n');
  const sha =
    method === 'rebase'
      ? await repository.rebased(base, head)
      : await repository.git(
          'commit-tree',
          tree,
          '-p',
          base,
          ...(method === 'merge' ? ['-p', head] : []),
          '-m',
          message,
        );
  if (sha === null) return refusal(405, "This branch can't be rebased");
  // The base has moved in the meantime.
  if ((await repository.ask('update-ref', `refs/heads/${pull.baseRef}`, sha, base)) === null)
    return merge(call);
  Object.assign(pull, {
    state: 'closed',
    headSha: head,
    mergedAt: new Date().toISOString(),
    mergeCommitSha: sha,
  });
  return { status: 200, body: { sha, merged: true, message: 'Pull Request successfully merged' } };
}

async function listPulls(call: RestCall): Promise<Answer> {
  const { repository, query } = call;
  for (const pull of repository.pulls) await repository.refresh(pull);
  const state = query['state'] ?? 'open';
  const found = repository.pulls
    .filter((one) => state === 'all' || one.state === state)
    .filter((one) => query['head'] === undefined || query['head'] === `${repository.owner}:${one.headRef}`)
    .filter((one) => query['base'] === undefined || query['base'] === one.baseRef)
    .toSorted((a, b) => (query['direction'] === 'asc' ? a.number - b.number : b.number - a.number));
  const bodies = [];
  for (const pull of pageOf(found, query)) bodies.push(await pullBody(call, pull, false));
  return { status: 200, body: bodies };
}

async function tree({ repository, params }: RestCall): Promise<Answer> {
  const listed = await repository.ask('ls-tree', '-r', '-t', '-z', '--long', params.tree_sha!);
  if (listed === null) return NOT_FOUND;
  const entries = listed
    .split('\0')
    .filter(Boolean)
    .map((line) => {
      const [meta, path] = line.split('\t') as [string, string];
      const [mode, type, sha, size] = meta.split(/ +/) as [string, string, string, string];
      return { path, mode, type, sha, ...(type === 'blob' ? { size: Number(size) } : {}) };
    });
  return { status: 200, body: { sha: params.tree_sha, tree: entries, truncated: false } };
}

async function branches({ repository, query }: RestCall): Promise<Answer> {
  const listed = await repository.git(
    'for-each-ref',
    '--format=%(refname:short) %(objectname)',
    'refs/heads',
  );
  const all = listed
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' ') as [string, string])
    .map(([name, sha]) => ({ name, commit: { sha }, protected: repository.protectedBranches.has(name) }))
    .filter((one) => query['protected'] === undefined || one.protected === query['protected']);
  return { status: 200, body: pageOf(all, query) };
}

async function matchingRefs({ repository, params }: RestCall): Promise<Answer> {
  if ((await repository.git('for-each-ref', '--count=1')) === '') return EMPTY;
  const listed = await repository.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads');
  const refs = listed
    .split('\n')
    .filter((line) => line.startsWith(`refs/${params.ref}`))
    .map((line) => line.split(' ') as [string, string]);
  return { status: 200, body: refs.map(([ref, sha]) => ({ ref, object: { type: 'commit', sha } })) };
}

async function ref({ repository, params }: RestCall): Promise<Answer> {
  if ((await repository.git('for-each-ref', '--count=1')) === '') return EMPTY;
  const sha = await repository.tip(params.ref!.replace(/^heads\//, ''));
  return sha === null
    ? NOT_FOUND
    : { status: 200, body: { ref: `refs/${params.ref}`, object: { type: 'commit', sha } } };
}

function checkRuns({ repository, params, query }: RestCall): Answer {
  const runs = repository.checks.filter(({ sha }) => sha === params.ref);
  const latest = runs.filter((one) => runs.findLast(({ name }) => name === one.name) === one);
  const shown = (query['filter'] === 'all' ? runs : latest).map(checkBody);
  return { status: 200, body: { total_count: shown.length, check_runs: pageOf(shown, query) } };
}

const checkBody = (check: StandInRepository['checks'][number]) => ({
  id: check.id,
  name: check.name,
  head_sha: check.sha,
  status: check.status,
  conclusion: check.conclusion,
  html_url: `https://checks.example.test/${check.id}`,
  output: { title: null, summary: check.summary ?? null, text: check.text ?? null },
  app: { id: 1, slug: check.app ?? 'some-ci' },
});

async function combinedStatus({ repository, params, query }: RestCall): Promise<Answer> {
  if ((await repository.ask('cat-file', '-e', `${params.ref}^{commit}`)) === null)
    return refusal(422, `No commit found for SHA: ${params.ref}`);
  const of = repository.statuses.filter(({ sha }) => sha === params.ref);
  const newest = of.filter((one) => of.findLast(({ context }) => context === one.context) === one);
  const statuses = newest.map(({ context, state, description, url }) => ({
    context,
    state,
    description,
    target_url: url,
  }));
  return { status: 200, body: { state: 'pending', sha: params.ref, statuses: pageOf(statuses, query) } };
}

function issue({ repository, params }: RestCall): Answer {
  const number = Number(params.issue_number);
  const title =
    repository.issues.get(number)?.title ?? repository.pulls.find((p) => p.number === number)?.title;
  return title === undefined ? NOT_FOUND : { status: 200, body: { number, title, state: 'open' } };
}

function commentsOf({ repository, params }: RestCall) {
  const number = Number(params.issue_number);
  const known = repository.issues.get(number);
  if (known) return known.comments;
  if (!repository.pulls.some((pull) => pull.number === number)) return null;
  const made = { title: '', comments: [] as { id: number; author: string; body: string }[] };
  repository.issues.set(number, made);
  return made.comments;
}

const repositoriesOf = ({ origin, repositories, actor, query }: RestCall) =>
  pageOf(repositories, query).map((one) => repositoryBody(origin, one, actor, false));

const REPO = '/repos/{owner}/{repo}';
export const REST: Record<string, (call: RestCall) => Answer | Promise<Answer>> = {
  'GET /app': () => ({ status: 200, body: { id: 1, slug: 'headrace-test', name: 'Headrace test' } }),
  'GET /app/installations/{installation_id}': ({ params }) => ({
    status: 200,
    body: { id: Number(params.installation_id), account: { login: 'acme', id: 1, type: 'Organization' } },
  }),
  'GET /user': ({ actor }) => ({ status: 200, body: { login: actor.login, id: actor.id } }),
  'GET /users/{username}': ({ params }) => ({ status: 200, body: { login: params.username, id: 4711 } }),
  'GET /user/repos': (call) => ({ status: 200, body: repositoriesOf(call) }),
  'GET /installation/repositories': (call) => ({
    status: 200,
    body: { total_count: call.repositories.length, repositories: repositoriesOf(call) },
  }),
  [`GET ${REPO}`]: ({ origin, repository, actor }) => ({
    status: 200,
    body: repositoryBody(origin, repository, actor, true),
  }),
  [`GET ${REPO}/branches`]: branches,
  [`GET ${REPO}/git/matching-refs/{ref}`]: matchingRefs,
  [`GET ${REPO}/git/ref/{ref}`]: ref,
  [`GET ${REPO}/git/commits/{commit_sha}`]: async ({ repository, params }) =>
    (await repository.ask('cat-file', '-e', `${params.commit_sha}^{commit}`)) === null
      ? NOT_FOUND
      : { status: 200, body: { sha: params.commit_sha } },
  [`GET ${REPO}/git/trees/{tree_sha}`]: tree,
  [`GET ${REPO}/git/blobs/{file_sha}`]: async ({ repository, params }) => ({
    status: 200,
    body: {
      sha: params.file_sha,
      encoding: 'base64',
      content: Buffer.from(await repository.git('cat-file', 'blob', params.file_sha!)).toString('base64'),
    },
  }),
  [`GET ${REPO}/pulls`]: listPulls,
  [`POST ${REPO}/pulls`]: createPull,
  [`GET ${REPO}/pulls/{pull_number}`]: async (call) => {
    const pull = pullOf(call);
    return pull ? { status: 200, body: await pullBody(call, pull, true) } : NOT_FOUND;
  },
  [`PATCH ${REPO}/pulls/{pull_number}`]: updatePull,
  [`PUT ${REPO}/pulls/{pull_number}/merge`]: merge,
  [`GET ${REPO}/commits/{ref}/check-runs`]: checkRuns,
  [`GET ${REPO}/commits/{ref}/status`]: combinedStatus,
  [`GET ${REPO}/check-runs/{check_run_id}`]: ({ repository, params }) => {
    const check = repository.checks.find(({ id }) => String(id) === params.check_run_id);
    return check ? { status: 200, body: checkBody(check) } : NOT_FOUND;
  },
  [`GET ${REPO}/actions/jobs/{job_id}/logs`]: ({ repository, params, origin }) =>
    repository.logs.has(Number(params.job_id))
      ? {
          status: 302,
          // Another origin: it is never to see a credential.
          headers: {
            location: `${origin.replace('127.0.0.1', 'localhost')}/logs/${repository.id}/${params.job_id}`,
          },
        }
      : NOT_FOUND,
  [`GET ${REPO}/issues/{issue_number}`]: issue,
  [`GET ${REPO}/issues/{issue_number}/comments`]: (call) => {
    const comments = commentsOf(call);
    const bodies = comments?.map(({ id, author, body }) => ({ id, body, user: { login: author, id: 1 } }));
    return bodies ? { status: 200, body: pageOf(bodies, call.query) } : NOT_FOUND;
  },
  [`POST ${REPO}/issues/{issue_number}/comments`]: (call) => {
    const comments = commentsOf(call);
    if (!comments) return NOT_FOUND;
    const comment = { id: comments.length + 1, author: call.actor.login, body: String(call.body['body']) };
    comments.push(comment);
    return { status: 201, body: { id: comment.id, body: comment.body, user: { login: comment.author } } };
  },
};

/** What an installation's token needs: https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps */
export function permissionFor(operation: string): { name: string; level: 'read' | 'write' } | null {
  const level = operation.startsWith('GET') ? 'read' : 'write';
  if (operation.includes('/pulls/{pull_number}/merge')) return { name: 'contents', level: 'write' };
  if (operation.includes('/pulls')) return { name: 'pull_requests', level };
  if (operation.includes('/check-runs')) return { name: 'checks', level };
  if (operation.includes('/status')) return { name: 'statuses', level };
  if (operation.includes('/actions/')) return { name: 'actions', level };
  if (operation.includes('/issues')) return { name: 'issues', level };
  return /\/(git|branches)/.test(operation) ? { name: 'contents', level } : null;
}
