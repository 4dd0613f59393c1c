/**
 * `headrace apply`: from a preview, by decisions on its conflicts, to the end of the apply.
 *
 *   preview: clean                      confirmed → sent, with the head of its turn
 *   preview: conflicted                 decided → confirmed → own texts become an edit of the draft → preview again
 *                                       → sent, for the head of the preview
 *   head or draft moved since           preview again; decisions whose sides are the same stay
 *   without a terminal, undecided       nothing is sent
 */
import { isCode } from '@headrace/client';
import type { Apply, ApplyPreview, ConflictFile, SourceFile, Thread } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { Fault } from '../core/fault.ts';
import { atMostOne } from '../core/input.ts';
import { rememberLast } from '../core/ids.ts';
import { oneLine } from '../terminal/escape.ts';
import { ago } from '../terminal/times.ts';
import { decideConflicts, widthOf } from './decide.ts';
import type { Session } from './decide.ts';
import { hashOf, keep, planOf, stillValid } from './decisions.ts';
import type { Change, Decision, Decisions, KeptDecision, Plan } from './decisions.ts';
import { keptDecisions } from './kept-decisions.ts';
import type { KeptDecisions } from './kept-decisions.ts';
import { appliesOf, applyText, exitOf, revisionOf } from './list.ts';
import {
  compacted,
  covers,
  decisionsOf,
  givenDecisions,
  idleOf,
  requireConflicts,
  resolveLine,
} from './resolve-option.ts';
import type { Given } from './resolve-option.ts';
import { changesText, conflictsText, summaryOf } from './summary.ts';
import { waitForApply } from './wait.ts';
import { countOf } from '../terminal/count.ts';

export interface ApplyOptions {
  preview: boolean;
  agent: boolean;
  manual: boolean;
  'no-wait': boolean;
  resolve: string[];
  timeout: number | undefined;
}

/** A head that moves more often while a person decides is reported. */
const MOST_ROUNDS = 20;

class Job {
  readonly cli: Cli;
  readonly options: ApplyOptions;
  readonly appId: string;
  readonly threadId: string;
  /** Of the options, until they are among the decisions; then empty. */
  given: readonly Given[];
  readonly store: KeptDecisions;
  /** The draft. */
  sourceId: string;
  kept: readonly KeptDecision[] = [];
  /** Whether the person has seen and confirmed what is sent next. */
  isConfirmed: boolean;
  /** From the request on, nobody here knows whether it is applied. */
  isSending = false;
  /** How many applies were sent: a later one is another write, also if it says the same. */
  sent = 0;
  /** The own texts that an edit has put into the draft; null before it. */
  written: readonly Change[] | null = null;

  constructor(cli: Cli, options: ApplyOptions, thread: Thread) {
    this.cli = cli;
    this.options = options;
    this.given = givenDecisions(cli, options.resolve);
    this.appId = thread.projectId;
    this.threadId = thread.id;
    this.store = keptDecisions(cli, thread.id);
    this.isConfirmed = cli.globals.yes;
    this.sourceId = draftOf(thread);
  }
}

export async function applyThread(cli: Cli, name: string | undefined, options: ApplyOptions): Promise<Exit> {
  atMostOne(options, ['agent', 'manual']);
  const appId = await cli.appId();
  const threadId = await cli.threadNamed(name ?? '@last', appId);
  const thread = await cli.client.threads.get(appId, threadId, { signal: cli.signal });
  cli.remember(`thread ${appId}`, threadId);
  const job = new Job(cli, options, thread);
  if (options.preview) return showPreview(job);
  const earlier = await earlierApply(cli, thread);
  if (earlier) return ended(job, earlier);
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    try {
      const exit = await oneRound(job, await previewOf(job));
      if (exit !== 'again') return exit;
    } catch (error) {
      await recovered(job, error);
    }
  }
  throw new Fault(EXIT.conflict, 'The head moves faster than the conflicts are decided.');
}

function draftOf({ latestSourceId }: Thread): string {
  if (latestSourceId === null)
    throw new Fault(EXIT.conflict, 'The thread has no files yet.', { hint: 'headrace attach @last' });
  return latestSourceId;
}

/** The apply that an interrupted command has sent, or that sealed the draft. */
async function earlierApply(
  cli: Cli,
  { projectId, id, sealedAt, blockedOn }: Thread,
): Promise<Apply | undefined> {
  const open = blockedOn.find((one) => one.startsWith('apply:'))?.slice('apply:'.length);
  if (open !== undefined) {
    cli.say('An apply of this thread is under way.');
    return cli.client.applies.get(projectId, open, { signal: cli.signal });
  }
  if (sealedAt === null) return undefined;
  for await (const apply of cli.client.applies.list(projectId, {
    threadId: id,
    limit: 200,
    signal: cli.signal,
  }))
    if (apply.status === 'applied') {
      cli.say(`The draft was already applied, ${ago(apply.finishedAt)}.`);
      return apply;
    }
  return undefined;
}

const previewOf = ({ cli, appId, threadId, sourceId }: Job): Promise<ApplyPreview> =>
  cli.client.applies.preview(appId, threadId, { expectedSourceId: sourceId }, { signal: cli.signal });

/**
 * Leaves out the options that are in the draft by now, as an earlier run of the command has put them there: its files are
 * the head's, or the given ones. The others must be about conflicts.
 */
async function dropDone(job: Job, { conflicts, changes }: ApplyPreview): Promise<void> {
  const { cli, appId, sourceId, given } = job;
  const idle = idleOf(conflicts, given);
  if (idle.length === 0) return;
  const files: SourceFile[] = [];
  for await (const file of cli.client.sources.files(appId, sourceId, { limit: 200, signal: cli.signal }))
    files.push(file);
  const isDone = ({ path: pattern, decision }: Given): boolean => {
    const found = files.filter(({ path }) => covers(pattern, path));
    if (found.length === 0 || typeof decision === 'string') return false;
    if ('own' in decision) return found[0]!.sha256 === hashOf(decision.own);
    return decision.take === 'head' && !changes.some(({ path }) => covers(pattern, path));
  };
  job.given = given.filter((one) => !(idle.includes(one) && isDone(one)));
  requireConflicts(conflicts, job.given);
}

/** Goes on after a head or a draft that moved, if a person can look again. */
async function recovered(job: Job, error: unknown): Promise<void> {
  const { cli, appId, threadId } = job;
  // The terminal sends a Ctrl-C as a key, or as a signal while no key is awaited.
  const isInterrupted = cli.signal.aborted || (error instanceof Fault && error.exit === EXIT.interrupted);
  if (isInterrupted && !job.isSending) cli.say(nothingSent(job));
  if (isInterrupted || !cli.canAsk) throw error;
  if (isCode(error, 'stale_head')) cli.say('The head has moved since.');
  else if (isCode(error, 'stale_source')) {
    cli.say('The draft has changed since.');
    job.sourceId = draftOf(await cli.client.threads.get(appId, threadId, { signal: cli.signal }));
  } else throw error;
  job.isConfirmed = false;
  job.isSending = false;
}

async function oneRound(job: Job, preview: ApplyPreview): Promise<Exit | 'again'> {
  const { cli, options } = job;
  const { conflicts } = preview;
  if (!job.written) cli.say(changesText(preview, viewOf(cli)));
  await dropDone(job, preview);
  const chosen = conflicts.length > 0 ? await choose(job, preview) : { plan: CLEAN, decisions: new Map() };
  if (typeof chosen === 'number') return chosen;
  const { plan } = chosen;
  await requireTexts(job, preview);
  if (!job.isConfirmed) {
    const question =
      plan.mode === 'agent' && plan.left.length > 0
        ? 'Let an agent repair it, and apply?'
        : 'Apply to the head?';
    if (!(await cli.confirm(question))) return nothingApplied(cli);
  }
  job.isConfirmed = true;
  if (plan.changes.length > 0) return edit(job, plan, keep(conflicts, chosen.decisions));
  const isManual = plan.mode === 'manual' && !(options.agent && conflicts.length === 0);
  return send(job, preview, { ...plan, mode: isManual ? 'manual' : 'agent' });
}

const CLEAN: Plan = { open: [], mode: 'manual', changes: [], resolutions: [], left: [] };

function nothingApplied(cli: Cli): Exit {
  cli.say('Nothing is applied.');
  return EXIT.conflict;
}

// Decisions.

interface Chosen {
  plan: Plan;
  decisions: Decisions;
}

async function choose(job: Job, preview: ApplyPreview): Promise<Chosen | Exit> {
  const { cli, options, store } = job;
  const { conflicts } = preview;
  await offerKept(job, preview);
  const decisions = new Map([...stillValid(conflicts, job.kept), ...decisionsOf(conflicts, job.given)]);
  job.given = [];
  if (options.agent) for (const { path } of conflicts) if (!decisions.has(path)) decisions.set(path, 'agent');
  job.kept = keep(conflicts, decisions);
  const { load, loaded } = filesOf(job, preview);
  const isComplete = conflicts.every(({ path }) => decisions.has(path));
  if (options.manual || (isComplete && (job.isConfirmed || !cli.canAsk))) {
    for (const [path, decision] of decisions) if (needsFile(decision)) await load(path);
    const plan = planOf(conflicts, decisions, (path) => loaded.get(path));
    if (options.manual && !isComplete) cli.say(leftOpen(cli, preview));
    else if (!job.written) cli.say(summaryOf(plan, decisions, viewOf(cli)));
    return { plan, decisions };
  }
  if (!cli.canAsk) return undecided(job, preview, decisions);
  const save = (kept: readonly KeptDecision[]) => store.write((job.kept = kept));
  const session: Session = { conflicts, decisions, load, loaded, save };
  const outcome = await decideConflicts(cli, session);
  if (outcome.end !== 'send') {
    cli.say(nothingSent(job));
    return EXIT.conflict;
  }
  job.isConfirmed = true;
  return outcome;
}

function nothingSent({ kept, store: { unkept } }: Job): string {
  if (kept.length === 0) return 'Nothing is applied.';
  return unkept === null
    ? 'Nothing is applied. The decisions are kept: the same command goes on with them.'
    : `Nothing is applied. The decisions are not kept: ${oneLine(unkept)}`;
}

const viewOf = (cli: Cli) => ({ width: widthOf(cli), paint: cli.paintTalk });

const needsFile = (decision: Decision): boolean =>
  typeof decision === 'object' && ('own' in decision || decision.take === 'head');

/** Once: those of an earlier command. */
async function offerKept(job: Job, { conflicts }: ApplyPreview): Promise<void> {
  const { cli, options, store } = job;
  if (!cli.canAsk || options.manual || options.agent || job.kept.length > 0) return;
  const kept = store.read();
  const count = stillValid(conflicts, kept?.decisions ?? []).size;
  if (!kept || count === 0) return;
  const question = `Use the ${countOf(count, 'decision')} that you made ${ago(kept.at)}?`;
  if (await cli.confirm(question)) job.kept = kept.decisions;
  else store.drop();
}

/** Files of conflicts at the preview's head, each read once. */
function filesOf({ cli, appId, threadId, sourceId }: Job, { headSourceId }: ApplyPreview) {
  const loaded = new Map<string, ConflictFile>();
  const load = async (path: string): Promise<ConflictFile> => {
    const file =
      loaded.get(path) ??
      (await cli.client.applies.previewFile(
        appId,
        threadId,
        { expectedSourceId: sourceId, expectedHeadSourceId: headSourceId, path },
        { signal: cli.signal },
      ));
    loaded.set(path, file);
    return file;
  };
  return { load, loaded };
}

function undecided(
  { cli, appId, threadId, options }: Job,
  preview: ApplyPreview,
  decisions: Decisions,
): Exit {
  const open = preview.conflicts.filter(({ path }) => !decisions.has(path));
  cli.show({ preview }, () => open.map(({ path, kind }) => `${kind}\t${oneLine(path)}`).join('\n'));
  cli.say(
    `${countOf(open.length, 'conflict')} with the head: nothing is applied. This takes the head’s files (or =draft, or =FILE):`,
  );
  // The app of the folder or of the environment is found again; one that was named is named again.
  const command = `headrace apply ${threadId}${cli.globals.app === undefined ? '' : ` --app ${appId}`}`;
  cli.say(`  ${cli.paintTalk('dim', '→')} ${resolveLine(command, options.resolve, open)}`);
  cli.say(`  ${cli.paintTalk('dim', '→')} ${command} --agent --yes lets an agent repair them.`);
  return EXIT.conflict;
}

const leftOpen = (cli: Cli, preview: ApplyPreview): string =>
  `${conflictsText(preview, cli.paintTalk)}\nThe apply ends as conflicted, and the head stays.`;

// Sending.

/** Own texts go into the draft, whose side the apply then takes. */
async function edit(
  job: Job,
  { changes, resolutions }: Plan,
  kept: readonly KeptDecision[],
): Promise<'again'> {
  const { cli, appId, threadId, sourceId } = job;
  const body = { expectedSourceId: sourceId, changes, message: 'Conflicts resolved by hand' };
  const source = await cli.write(
    (client) => client.edits.create(appId, threadId, body, { signal: cli.signal }),
    JSON.stringify(body),
  );
  cli.say(`An edit puts ${countOf(changes.length, 'file')} into the draft: ${source.id}`);
  job.sourceId = source.id;
  job.kept = kept;
  job.written = changes.filter(({ path }) => resolutions.some((one) => one.path === path));
  return 'again';
}

/**
 * Where an own text puts the head's lines back to those of the base, there is no conflict any more, and the merge takes
 * the head's lines. Asks whether that is wanted.
 */
async function requireTexts(job: Job, { headSourceId, conflicts, changes }: ApplyPreview): Promise<void> {
  const { cli, appId, sourceId } = job;
  const settled = job.written?.filter(({ path }) => !conflicts.some((one) => one.path === path)) ?? [];
  if (settled.length === 0) return;
  const { files } = await cli.client.sources.diff(appId, sourceId, {
    base: headSourceId,
    signal: cli.signal,
  });
  const lost = settled.flatMap(({ path }) => {
    const [wanted, made] = [files, changes].map((list) => list.find((one) => one.path === path));
    return isSameChange(wanted, made) ? [] : [oneLine(path)];
  });
  if (lost.length === 0) return;
  const message = `Where your text is that of the base, the merge takes the head’s lines: ${lost.join(', ')}`;
  if (!cli.canAsk)
    throw new Fault(EXIT.conflict, message, { hint: 'headrace apply --preview shows the result.' });
  cli.say(message);
  job.isConfirmed = false;
}

type FileChange = ApplyPreview['changes'][number];

/** By its patch; large ones have only counts. */
const isSameChange = (a: FileChange | undefined, b: FileChange | undefined): boolean =>
  a?.additions === b?.additions &&
  a?.deletions === b?.deletions &&
  (!a?.patch || !b?.patch || a.patch === b.patch);

async function send(job: Job, preview: ApplyPreview, plan: Plan): Promise<Exit | 'again'> {
  const { cli, appId, threadId, sourceId, options } = job;
  const resolutions = compacted(preview.conflicts, plan.resolutions);
  // A decision is for one head. A clean draft is merged with the head of its turn.
  const isPinned = resolutions.length > 0 || (job.written !== null && plan.mode === 'manual');
  const body = {
    expectedSourceId: sourceId,
    conflictResolution: plan.mode,
    ...(isPinned && { expectedHeadSourceId: preview.headSourceId }),
    ...(resolutions.length > 0 && { resolutions }),
  };
  job.isSending = true;
  const apply = await cli.write(
    (client) => client.applies.create(appId, threadId, body, { signal: cli.signal }),
    JSON.stringify([body, preview.headSourceId, job.sent]),
  );
  job.sent++;
  rememberLast(cli, appliesOf(cli, appId), apply.id);
  if (options['no-wait']) {
    cli.show({ apply }, () => apply.id);
    cli.say(`Queued. → headrace applies show ${apply.id} --wait`);
    return EXIT.done;
  }
  const result = await waitForApply(cli, apply, options.timeout);
  const isStale = result.error?.startsWith('stale_head:') ?? false;
  const canDecide = result.status === 'conflicted' && (isStale || (result.error === null && !options.manual));
  if (!canDecide || !cli.canAsk) return ended(job, result);
  cli.say('The head has moved since.');
  job.isConfirmed = false;
  job.isSending = false;
  return 'again';
}

/** Waits for it if it has not ended, and shows it. */
async function ended(job: Job, apply: Apply): Promise<Exit> {
  const { cli, options, store } = job;
  const result =
    apply.status === 'queued' && !options['no-wait']
      ? await waitForApply(cli, apply, options.timeout)
      : apply;
  if (result.status === 'applied') store.drop();
  const revision = await revisionOf(cli, result);
  cli.show({ apply: result }, () => applyText(result, revision, cli.paint));
  if (result.status === 'conflicted')
    cli.say(
      `The head is unchanged. → headrace apply ${result.threadId} on a terminal decides the conflicts.`,
    );
  return exitOf(result);
}

// Only looking.

async function showPreview(job: Job): Promise<Exit> {
  const { cli } = job;
  const first = await previewOf(job);
  requireConflicts(first.conflicts, job.given);
  const decisions = decisionsOf(first.conflicts, job.given);
  const texts = [...decisions].flatMap(([path, one]) =>
    typeof one === 'object' && 'own' in one ? [oneLine(path)] : [],
  );
  if (texts.length > 0)
    cli.say(`The draft’s file is shown where the apply would have the local one: ${texts.join(', ')}`);
  const { resolutions } = planOf(first.conflicts, decisions, () => undefined);
  const preview = resolutions.length > 0 ? await resolved(job, first, resolutions) : first;
  cli.show({ preview }, () =>
    [
      changesText(preview, { width: cli.width ?? Number.POSITIVE_INFINITY, paint: cli.paint }),
      ...(preview.conflicts.length > 0 ? [conflictsText(preview, cli.paint)] : []),
      `${cli.paint(preview.status === 'clean' ? 'green' : 'yellow', preview.status)}, with the head ${preview.headSourceId}`,
    ].join('\n'),
  );
  return preview.status === 'clean' ? EXIT.done : EXIT.conflict;
}

const resolved = (
  { cli, appId, threadId, sourceId }: Job,
  { headSourceId, conflicts }: ApplyPreview,
  resolutions: Plan['resolutions'],
): Promise<ApplyPreview> =>
  cli.client.applies.preview(
    appId,
    threadId,
    {
      expectedSourceId: sourceId,
      expectedHeadSourceId: headSourceId,
      resolutions: compacted(conflicts, resolutions),
    },
    { signal: cli.signal },
  );
