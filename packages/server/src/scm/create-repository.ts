/**
 * A repository that is hosted here. Its folder is made first, under an id that nothing names yet, so that
 * the transaction that adds the row finds it whole. A process that dies in between leaves a folder that
 * nothing names.
 */
import { audit } from '../audit/index.ts';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { buildGitCommit } from '../git/build-commit.ts';
import { isBranchName } from '../git/ref-names.ts';
import { runGit } from '../git/run-git.ts';
import { ApiError, invalid } from '../http/errors.ts';
import { claimedWrite } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { decodeFiles } from '../sources/index.ts';
import type { BundleFile } from '../sources/index.ts';
import { openLocalFolder, removeLocalFolder } from './local/repository-folder.ts';
import { NewRepository, Repository } from './schemas.ts';
import { insertLocalRepository } from './store.ts';
import { repositoryView } from './view.ts';

export const createRepository = claimedWrite({
  name: 'scm.createRepository',
  summary: 'Create a repository that this service hosts',
  description:
    'Empty without `files`, otherwise with one commit of exactly these bytes and modes. A refusal of `files` names each invalid file, as an import does.',
  access: { permissions: ['repo:update'], unrestricted: true },
  capability: 'sourceControl',
  body: NewRepository,
  responses: { 201: Ok({ repository: Repository }) },
  mode: 'staged',
  publishesPending: false,
  async prepare({ body }) {
    const defaultBranch = body.defaultBranch ?? 'main';
    if (!isBranchName(defaultBranch))
      throw invalid({ path: '/defaultBranch', message: 'is too long for git: choose a shorter name' });
    const decoded = body.files && decodeFiles(body.files);
    if (decoded?.ok === false) throw new ApiError(decoded.code, decoded.message, { fields: decoded.fields });
    return { prepared: { defaultBranch, files: decoded?.files ?? null } };
  },
  async handle(call, claim, { defaultBranch, files }) {
    const { ctx, principal, body } = call;
    const id = newId('repo');
    try {
      await requireName(ctx, principal.orgId, body.name);
      const folder = await openLocalFolder(ctx.config, { id, default_branch: defaultBranch });
      if (files) await commitFirst(ctx, folder, { branch: defaultBranch, message: body.message }, files);
      return await transaction(ctx, async (tx) => {
        const row = await insertLocalRepository(tx, {
          org_id: principal.orgId,
          id,
          name: body.name,
          default_branch: defaultBranch,
        });
        if (!row) throw nameTaken();
        await audit(tx, call, 'repository.created', id);
        const result = { status: 201, body: { ok: true, repository: repositoryView(ctx, row) } };
        await claim.settle(tx, result);
        return result;
      });
    } catch (error) {
      if (error instanceof ApiError) await removeLocalFolder(ctx.config, id);
      throw error;
    }
  },
});

async function requireName(ctx: Context, orgId: string, name: string): Promise<void> {
  const taken = await ctx.db
    .selectFrom('repositories')
    .select('id')
    .where('org_id', '=', orgId)
    .where('name', '=', name)
    .where('provider', '=', 'local')
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (taken) throw nameTaken();
}

const nameTaken = () =>
  new ApiError(
    'repository_name_taken',
    'The organization already has a repository of this name. Choose another name.',
  );

async function commitFirst(
  ctx: Context,
  folder: string,
  { branch, message }: { branch: string; message: string | undefined },
  files: readonly BundleFile[],
): Promise<void> {
  const { commit: person } = ctx.config.scm;
  const commitSha = await buildGitCommit(folder, {
    parents: [],
    changes: files.map(({ path, executable }, index) => [
      Buffer.from(path),
      { mode: executable ? '100755' : '100644', content: String(index) },
    ]),
    contents: contentsOf(files),
    message: `${message?.trim() || 'First commit'}\n`,
    person,
    date: new Date(),
    signingKey: person.signingKey,
  });
  await runGit(folder, ['update-ref', `refs/heads/${branch}`, commitSha, '']);
}

async function* contentsOf(files: readonly BundleFile[]) {
  for (const [index, { bytes }] of files.entries()) yield { key: String(index), bytes };
}
