/** The worker's composition: which job is done by which domain, and what goes on in the background. */
import type pg from 'pg';
import { reconcileBuilds, workBuilds } from './builds/index.ts';
import { maintainCaches } from './commits/index.ts';
import { execute, executionDied } from './automations/execute.job.ts';
import { automationsConsumer } from './automations/on-events.ts';
import { reconcileExecutions } from './automations/reconcile-executions.ts';
import { startScheduler } from './automations/scheduler.ts';
import { mergeApplies, reconcileApplies, repairs as applyRepairs } from './applies/index.ts';
import type { Context } from './context.ts';
import { openGateway, startGateway } from './gateway/index.ts';
import { startConsumer } from './events/index.ts';
import { startListener, watchFleet } from './fleet/index.ts';
import { execDied, workExec } from './execs/exec-work.job.ts';
import type { JobKind } from './jobs/enqueue.ts';
import { startWorker } from './jobs/worker.ts';
import type { HeldJob, JobHandlers } from './jobs/job.ts';
import { maintainReceipts } from './receipts/maintain.ts';
import { driveLoop, reconcileReplies, replyToPoints } from './review-loop/index.ts';
import { previewDied, reconcilePreviews, workPreview } from './previews/index.ts';
import { renameRepository } from './projects/index.ts';
import { reconcileSetups, workSetup } from './setups/index.ts';
import { failQueuedRuns } from './runs/index.ts';
import type { Repairs } from './runs/index.ts';
import { runsDied, workRuns } from './runs/run-work.job.ts';
import { runCapacity } from './capacity/index.ts';
import { fillPlaces } from './capacity/index.ts';
import {
  localPullEffects,
  lookAtRepository,
  maintainInstallations,
  maintainLocalRepository,
  syncRepositories,
} from './scm/index.ts';
import { reconcileRepacks, repackProject } from './sources/index.ts';
import {
  commentOnIssue,
  followBase,
  lookAtPullRequests,
  pollPullRequests,
  pullRequestEffects,
  reconcileUpdates,
  syncPullRequest,
  takeIssueTitle,
  updateRepairs,
} from './sync/index.ts';
import { startCleanup } from './teardown/index.ts';
import { startWebhooks } from './webhooks/index.ts';
import { keepHoursClosed } from './usage/index.ts';
import {
  archiveWorkspace,
  archivingDied,
  initializationDied,
  initializeThread,
  sweepWorkspaces,
} from './workspaces/index.ts';

export interface Work {
  stop(): Promise<void>;
}

/**
 * The time that a stopping worker gives its jobs; what is not done by then is taken over by the next
 * worker.
 */
const GRACE_MS = 4_000;

/**
 * How often this worker reports to the runner that it relays models' calls; a silent one is forgotten
 * there.
 */
const OFFER_MS = 1_000;

async function offerGateway(ctx: Context): Promise<{ close(): Promise<void> }> {
  if (ctx.config.machines) {
    const gateway = openGateway(ctx);
    const listener = await startListener(ctx, ctx.config.machines, (socket) => gateway.accept(socket));
    return {
      close() {
        listener.close();
        return gateway.close();
      },
    };
  }
  const gateway = await startGateway(ctx);
  const offer = () =>
    ctx.runner
      .registerGateway(ctx.processId, gateway.socketPath)
      .catch((err: unknown) =>
        ctx.log.debug({ err }, 'the runner does not answer; it is told again in a second'),
      );
  await offer();
  const timer = setInterval(() => void offer(), OFFER_MS);
  return {
    close() {
      clearInterval(timer);
      return gateway.close();
    },
  };
}

/** Repairs of applies, and of updates of pull requests. */
const repairs: Repairs = {
  attempt: (ctx, run) => (run.apply_id === null ? updateRepairs : applyRepairs).attempt(ctx, run),
  ended: (tx, loaded, run, result) =>
    (run.apply_id === null ? updateRepairs : applyRepairs).ended(tx, loaded, run, result),
};

export async function startWork(ctx: Context, connection: pg.PoolConfig): Promise<Work> {
  const capacity = (kind: JobKind) => (held: readonly HeldJob[]) =>
    runCapacity({
      kind,
      limit: ctx.config.runConcurrency,
      held,
      load: ctx.runnerStatus()?.load,
      now: Date.now(),
    });
  const handlers: JobHandlers = {
    'thread.initialize': {
      run: (job) => initializeThread(ctx, job, failQueuedRuns),
      concurrency: 8,
      onDead: ({ threadId }) => initializationDied(ctx, threadId, failQueuedRuns),
    },
    'run.work': {
      run: (job) => workRuns(ctx, job, repairs),
      concurrency: capacity('run.work'),
      onDead: ({ threadId }) => runsDied(ctx, threadId),
    },
    'exec.work': {
      run: (job) => workExec(ctx, job),
      concurrency: capacity('exec.work'),
      onDead: ({ execId }, error) => execDied(ctx, execId, error),
    },
    'apply.merge': { run: (job) => mergeApplies(ctx, job), concurrency: 4 },
    'build.work': { run: (job) => workBuilds(ctx, job), concurrency: ctx.config.buildConcurrency },
    'setup.work': { run: (job) => workSetup(ctx, job), concurrency: ctx.config.buildConcurrency },
    // Held as long as a preview is open; beyond this one worker's previews wait, and fail where none gets
    // free.
    'preview.work': {
      run: (job) => workPreview(ctx, job),
      concurrency: 64,
      onDead: ({ previewId }) => previewDied(ctx, previewId),
    },
    'workspace.archive': {
      run: (job) => archiveWorkspace(ctx, job),
      concurrency: 4,
      onDead: ({ threadId }) => archivingDied(ctx, threadId),
    },
    'scm.sync': { run: (job) => syncRepositories(ctx, job, renameRepository), concurrency: 2 },
    // One at a time: each may take some hundred MiB and a core.
    'source.repack': { run: (job) => repackProject(ctx, job), concurrency: 1 },
    'pull-request.sync': { run: (job) => syncPullRequest(ctx, job, driveLoop), concurrency: 8 },
    'pull-request.follow-base': { run: (job) => followBase(ctx, job), concurrency: 2 },
    'pull-request.comment': { run: (job) => commentOnIssue(ctx, job), concurrency: 2 },
    'task.title': { run: (job) => takeIssueTitle(ctx, job), concurrency: 2 },
    'pull-request.reply': { run: (job) => replyToPoints(ctx, job), concurrency: 4 },
    'scm.look-repository': {
      async run(job) {
        await lookAtPullRequests(ctx, job.payload.repositoryId, await lookAtRepository(ctx, job));
      },
      concurrency: 4,
    },
    'automation.execute': {
      run: (job) => execute(ctx, job),
      // Most are short; a few wait for a provider.
      concurrency: 16,
      onDead: (payload, error) => executionDied(ctx, payload, error),
    },
    'scm.maintain-repository': { run: (job) => maintainLocalRepository(ctx, job), concurrency: 1 },
  };
  const gateway = await offerGateway(ctx);
  const worker = await startWorker(ctx, connection, handlers);
  // What only rows say is for one worker of all; what its runner or its disk has, each worker looks after.
  const housekeeping = () => worker.isHousekeeper;
  maintainReceipts(ctx, { ...localPullEffects, ...pullRequestEffects }, housekeeping);
  const cleanup = startCleanup(ctx);
  const webhooks = startWebhooks(ctx, connection, housekeeping);
  sweepWorkspaces(ctx, housekeeping);
  reconcilePreviews(ctx, housekeeping);
  reconcileBuilds(ctx, housekeeping);
  reconcileSetups(ctx, housekeeping);
  fillPlaces(ctx, housekeeping);
  if (ctx.fleet) watchFleet(ctx, ctx.fleet.pool);
  reconcileApplies(ctx, housekeeping);
  reconcileUpdates(ctx, housekeeping);
  reconcileReplies(ctx, housekeeping);
  reconcileRepacks(ctx, housekeeping);
  pollPullRequests(ctx, housekeeping);
  maintainCaches(ctx);
  maintainInstallations(ctx, housekeeping);
  keepHoursClosed(ctx, housekeeping);
  const consuming = startConsumer(ctx, automationsConsumer(ctx), housekeeping);
  const scheduling = startScheduler(ctx, housekeeping);
  reconcileExecutions(ctx, housekeeping);
  return {
    async stop() {
      await Promise.all([
        worker.stop(GRACE_MS),
        cleanup.stop(),
        webhooks.stop(),
        consuming.stop(),
        scheduling.stop(),
      ]);
      // Last: what runs on in the runner asks its models until the end.
      await gateway.close();
    },
  };
}
