import Type from 'typebox';
import { sortTree } from '../git/kept-aside.ts';
import { isCommitId } from '../git/ref-names.ts';
import { notFound } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { Body, Ok, Text } from '../http/schemas.ts';
import { scmFault } from './faults.ts';
import { openNamed } from './open-repository.ts';
import type { OpenRepository } from './provider.ts';
import { Inspection } from './schemas.ts';

export const inspectRepository = read({
  name: 'scm.inspectRepository',
  summary: 'Look at a branch or a commit of a repository',
  description: 'Says what a project of it would have. Stores nothing.',
  access: { permissions: ['repo:read'] },
  capability: 'sourceControl',
  query: Body({
    ref: Type.Optional(
      Text('main', {
        minLength: 1,
        maxLength: 255,
        description: 'A branch or a whole commit id; the default branch when left out.',
      }),
    ),
  }),
  responses: { 200: Ok({ inspection: Inspection }) },
  async handle(call) {
    const repository = await openNamed(call);
    const ref = call.query.ref ?? repository.at.repository.default_branch;
    const inspection = await inspect(repository, ref).catch((error: unknown) => {
      throw scmFault(error);
    });
    return { status: 200, body: { ok: true, inspection } };
  },
});

const NOTHING = { entries: [], truncated: false, usesLfs: false };

async function inspect({ provider, at }: OpenRepository, ref: string) {
  const { id, default_branch: defaultBranch } = at.repository;
  const { files: maxFiles, bytes: maxBytes, fileBytes } = at.ctx.config.repositoryLimits;
  const commitSha = await provider.resolveRef(at, ref);
  if (commitSha === null) {
    const [any] = await provider.listBranches(at, { prefix: '', after: null, limit: 1 });
    if (any || ref !== defaultBranch) throw notFound(isCommitId(ref) ? 'commit' : 'branch');
  }
  const { entries, truncated, usesLfs } =
    commitSha === null ? NOTHING : await provider.inspectTree(at, commitSha);
  const { files, keptAside } = sortTree(entries, fileBytes);
  const byteSize = files.reduce((sum, { entry }) => sum + entry.byteSize, 0);
  return {
    repositoryId: id,
    ref,
    commitSha,
    fileCount: files.length,
    byteSize,
    keptAsideCount: keptAside.length,
    withinLimits: !truncated && files.length <= maxFiles && byteSize <= maxBytes,
    truncated,
    usesLfs,
    canPush: await provider.canPush(at),
  };
}
