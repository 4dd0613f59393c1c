import Type from 'typebox';
import type { Static } from 'typebox';
import type { ProjectRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { isBranchName } from '../git/ref-names.ts';
import { requireTarget } from '../hosts/index.ts';
import { requireCapability } from '../http/capabilities.ts';
import { invalid } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import type { Call } from '../http/operation.ts';
import { Body, IdInput, Micros } from '../http/schemas.ts';
import { ModelId } from '../messages/index.ts';
import { Branch, loadProject, Metadata } from '../projects/index.ts';
import { answerBegun, beginThread, BEGUN, FirstMessage } from '../runs/index.ts';
import { IssueUrl, issueUrlFaults } from '../tasks/index.ts';
import { ErrorTrackerIssue, ExecutionTarget, Title } from './schemas.ts';

const PlatformBody = Body({
  sourceId: Type.Optional(
    IdInput(
      'src',
      "Default: the head. Has to be in the head's history; before a head exists, any source of the app.",
    ),
  ),
  title: Type.Optional(Title),
  modelId: Type.Optional(ModelId),
  spendLimitMicros: Type.Optional(Micros),
  metadata: Type.Optional(Metadata),
  message: Type.Optional(FirstMessage),
});
const DirectBody = Body({
  projectId: IdInput('prj'),
  title: Type.Optional(Title),
  modelId: Type.Optional(ModelId),
  baseBranch: Type.Optional({
    ...Branch,
    description:
      "In a project with a repository: the branch that the thread starts from. Default: the project's default branch.",
  }),
  sourceId: Type.Optional(
    IdInput(
      'src',
      'Instead of a branch. With a repository: the source of a commit; otherwise as for an app.',
    ),
  ),
  spendLimitMicros: Type.Optional(Micros),
  message: Type.Optional(FirstMessage),
  executionTarget: Type.Optional(ExecutionTarget),
  taskId: Type.Optional(IdInput('task', 'The task of the thread. It belongs to the same project.')),
  trackerIssueUrl: Type.Optional({
    ...IssueUrl,
    description:
      'The issue that the thread is about. The thread joins the task for this issue in the project, which is created if necessary.',
  }),
  errorTrackerIssue: Type.Optional(ErrorTrackerIssue),
});

type NewThread = Parameters<typeof beginThread>[3];

/** `thread.updated`, then the events of the first message. */
const create = async (
  tx: Tx,
  { ctx, principal }: Pick<Call, 'ctx' | 'principal'>,
  project: ProjectRow,
  input: NewThread,
) => answerBegun(tx, project, await beginThread(tx, { ctx, creator: principal }, project, input));

export const createThread = write({
  name: 'threads.createThread',
  summary: 'Create a thread, with or without a first message',
  description: 'The thread owns an isolated workspace, which is prepared after the answer.',
  access: { permissions: ['thread:create'] },
  body: PlatformBody,
  legacyKeys: ['/message/clientMessageId'],
  responses: BEGUN,
  handle: async (tx, call) => create(tx, call, await loadProject(tx.db, call, 'share'), call.body),
});

export const createDirectThread = write({
  name: 'threads.createDirectThread',
  summary: 'Create a thread in a project',
  access: { permissions: ['thread:create'] },
  body: DirectBody,
  legacyKeys: ['/message/clientMessageId'],
  responses: BEGUN,
  async handle(tx, call) {
    const { executionTarget } = call.body;
    requireConsistent(call.body);
    const project = await loadProject(tx.db, call, 'share', call.body.projectId);
    if (executionTarget === undefined) return create(tx, call, project, call.body);
    if (project.kind === 'platform')
      throw invalid({ path: '/executionTarget', message: 'an app has no local hosts' });
    requireCapability(call.ctx.config, call.principal, 'hosts');
    await requireTarget(tx, call.principal, executionTarget);
    return create(tx, call, project, { ...call.body, spendLimitMicros: null });
  },
});

/** What the schema cannot say. */
function requireConsistent(body: Static<typeof DirectBody>): void {
  const { sourceId, baseBranch, spendLimitMicros, executionTarget, trackerIssueUrl, errorTrackerIssue } =
    body;
  const faults = [
    ...(sourceId !== undefined && baseBranch !== undefined
      ? [{ path: '/baseBranch', message: 'must not be given together with sourceId' }]
      : []),
    ...(baseBranch !== undefined && !isBranchName(baseBranch)
      ? [{ path: '/baseBranch', message: 'must have at most 255 bytes' }]
      : []),
    ...(executionTarget === undefined
      ? []
      : Object.entries({ sourceId, baseBranch, spendLimitMicros }).flatMap(([name, value]) =>
          value === undefined
            ? []
            : [{ path: `/${name}`, message: 'must not be given with executionTarget' }],
        )),
    ...issueUrlFaults('/trackerIssueUrl', trackerIssueUrl),
    ...issueUrlFaults('/errorTrackerIssue/url', errorTrackerIssue?.url),
  ];
  if (faults.length) throw invalid(...faults);
}
