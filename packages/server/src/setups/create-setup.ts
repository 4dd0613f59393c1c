import Type from 'typebox';
import type { Context } from '../context.ts';
import type { SetupRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, IdInput, Ok } from '../http/schemas.ts';
import { headNotInitialized, loadProject, scopeOf } from '../projects/index.ts';
import { loadSource } from '../sources/index.ts';
import { effectiveSettings } from '../settings/index.ts';
import { queueSetup, wantedSetup } from './need-setup.ts';
import type { SourceOf } from './need-setup.ts';
import { Setup } from './schemas.ts';
import { isEnded } from './state.ts';
import { findCurrent } from './store.ts';
import { setupView } from './view.ts';

/** The layers that the runner of this host keeps for a project; undefined where none answers. */
const keptLayers = (ctx: Context, projectId: string): Promise<string[] | undefined> =>
  ctx.runner.keptLayers(projectId).catch(() => undefined);

export const createSetup = write({
  name: 'setups.createSetup',
  summary: "Make a source's setup ahead of its use",
  description:
    'Returns the setup of the command and of the files that the setting names: the one in progress, or the one that is ready. A new one is made if there is none, if it failed, if its layer is no longer kept, or with `force`.',
  access: { permissions: ['thread:update'] },
  body: Body({
    sourceId: Type.Optional(IdInput('src', "Any source of the app; default: the app's head.")),
    force: Type.Optional(
      Type.Boolean({ default: false, description: 'Make a new one, even if one is ready.' }),
    ),
  }),
  responses: { 202: Ok({ setup: Setup }) },
  before: ({ ctx, params }) => keptLayers(ctx, params.appId!),
  async handle(tx, call, _receipt, kept) {
    const project = await loadProject(tx.db, call, 'share');
    const sourceId = call.body.sourceId ?? project.head_source_id;
    if (call.body.sourceId !== undefined) await loadSource(tx.db, project.id, call.body.sourceId);
    const of = { org_id: project.org_id, project_id: project.id, source_id: sourceId };
    // Read once: the organization's setting may change meanwhile.
    const wanted = await wantedSetup(tx.db, of);
    if (!wanted) throw await whyNone(tx, of);
    const current = await findCurrent(tx.db, project.id, wanted.key);
    const setup =
      current && (!isEnded(current) || (!call.body.force && isUsable(current, call.ctx, kept)))
        ? current
        : await queueSetup(tx, of, wanted);
    return { status: 202, body: { ok: true, setup: setupView(setup) }, scope: scopeOf(project) };
  },
});

async function whyNone(tx: Tx, { project_id: projectId, source_id: sourceId }: SourceOf): Promise<ApiError> {
  if (sourceId === null && (await effectiveSettings(tx.db, { project_id: projectId })).setup)
    return headNotInitialized();
  return new ApiError('conflict', 'The app has no setup. Set one in its settings.');
}

/** Whether it is ready, and its layer is not known to be gone. */
function isUsable(setup: SetupRow, ctx: Context, kept: string[] | undefined): boolean {
  if (setup.status !== 'ready' || setup.layer_gone_at !== null) return false;
  const isHere = setup.runner_id?.split(':')[0] === ctx.runnerStatus()?.id;
  return !isHere || kept === undefined || kept.includes(setup.id);
}
