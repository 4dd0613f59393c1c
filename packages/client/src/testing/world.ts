/** The state of the test service: apps with everything in them, the log, and work in progress. */
import type {
  App,
  Apply,
  Approval,
  Build,
  EventType,
  HeadRecord,
  Message,
  Operation,
  Run,
  Source,
  Thread,
  Tool,
} from '../generated/types.ts';
import { Fault, busy, notFound } from './fault.ts';
import { EventLog } from './log.ts';

export interface Entry {
  bytes: Uint8Array;
  sha256: string;
  executable: boolean;
}
/** Files by path, sorted. */
export type Files = ReadonlyMap<string, Entry>;

export interface BuildState {
  build: Build;
  log: string;
  output: Files;
  artifact: Uint8Array | null;
}
export interface ThreadState {
  view: Thread;
  /** What was said before a fork. */
  inherited: Message[];
  messages: Message[];
  runs: Run[];
  tools: Tool[];
  approvals: { approval: Approval; answer: (decision: 'approve' | 'deny' | null) => void }[];
  hasFailed: boolean;
  /** The end of all work so far: the next begins after it. */
  tail: Promise<void>;
}
export interface AppState {
  app: App;
  sources: Map<string, { source: Source; files: Files }>;
  heads: HeadRecord[];
  threads: Map<string, ThreadState>;
  applies: Apply[];
  builds: BuildState[];
  /** The end of all applies so far. */
  tail: Promise<void>;
}

/** A thread with everything that belongs to it. */
export interface Place {
  world: World;
  app: AppState;
  thread: ThreadState;
}

export const ORG = 'org_0test000000000000000000001';
export const ACTOR = 'sa_0test000000000000000000001';
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_LENGTH = 26;

export const isOpen = ({ status }: { status: string }): boolean =>
  ['queued', 'running', 'waiting', 'building'].includes(status);

/** Work that continues after an answer: it can be held and awaited. */
export class Work {
  readonly #stepMs: number;
  #open = 0;
  #isPaused = false;
  #held: (() => void)[] = [];
  #idle: (() => void)[] = [];

  constructor(stepMs: number) {
    this.#stepMs = stepMs;
  }

  begin(task: () => Promise<void>): Promise<void> {
    this.#open++;
    return task().finally(() => this.#leave());
  }

  /** The pause before the next step. */
  async step(): Promise<void> {
    if (this.#stepMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#stepMs));
    else await Promise.resolve();
    while (this.#isPaused) await new Promise<void>((resolve) => this.#held.push(resolve));
  }

  /** Waits for something that only a caller can do: meanwhile this work does not count as open. */
  async external<T>(promise: Promise<T>): Promise<T> {
    this.#leave();
    try {
      return await promise;
    } finally {
      this.#open++;
    }
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (const go of this.#held.splice(0)) go();
  }

  idle(): Promise<void> {
    return this.#open === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  #leave(): void {
    if (--this.#open === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

/** Runs a command. `files` is the draft: the command's changes to it are kept. */
export type Shell = (
  command: string,
  files: Map<string, string>,
) => ShellResult | undefined | Promise<ShellResult | undefined>;
export interface ShellResult {
  exitCode?: number;
  output?: string;
}

export interface BuildScript {
  /** A command with an exit code other than 0 fails the build. */
  exitCode?: number;
  log?: string;
  /** The output folder's files; default: those of the source. */
  files?: Record<string, string>;
}

/** A settled write, by its key. */
export interface Receipt {
  /** Of the request. */
  fingerprint: string;
  operation: Operation;
}

/** What the test controls. */
interface Settings {
  shell: Shell | undefined;
  approvals: 'allow' | 'ask';
  /** The outcomes of the next builds, in order. */
  builds: BuildScript[];
}

interface WorldOptions {
  now?: () => number;
  stepMs?: number;
  shell?: Shell;
  approvals?: 'allow' | 'ask';
}

export class World {
  readonly settings: Settings;
  readonly log = new EventLog();
  readonly apps = new Map<string, AppState>();
  /** By idempotency key. */
  readonly receipts = new Map<string, Receipt>();
  readonly work: Work;
  readonly #clock: () => number;
  #ids = 0;

  constructor({ now = Date.now, stepMs = 0, shell, approvals = 'allow' }: WorldOptions) {
    this.settings = { shell, approvals, builds: [] };
    this.#clock = now;
    this.work = new Work(stepMs);
  }

  /** Ids count up, so that a test gets the same ones in each run. */
  id(prefix: string): string {
    let rest = ++this.#ids;
    let text = '';
    for (; rest > 0; rest = Math.floor(rest / 32)) text = DIGITS[rest % 32]! + text;
    return `${prefix}_0test${text.padStart(ID_LENGTH - 5, '0')}`;
  }

  ms(): number {
    return this.#clock();
  }

  now(): string {
    return new Date(this.#clock()).toISOString();
  }

  app(id: string): AppState {
    const found = this.apps.get(id);
    if (!found || found.app.deletedAt !== null) throw notFound('app');
    return found;
  }

  thread(appId: string, id: string): Place {
    const app = this.app(appId);
    const thread = app.threads.get(id);
    if (!thread) throw notFound('thread');
    return { world: this, app, thread };
  }

  publish(
    { app }: AppState,
    type: EventType,
    data: object,
    at: { threadId?: string; runId?: string } = {},
  ): void {
    const time = this.now();
    this.log.append({
      id: this.id('evt'),
      type,
      orgId: ORG,
      appId: app.id,
      projectId: app.id,
      threadId: at.threadId ?? null,
      runId: at.runId ?? null,
      data: { ...data },
      occurredAt: time,
      publishedAt: time,
    });
  }

  /** After each change of a thread: its status follows from its work. */
  changed(app: AppState, thread: ThreadState, type: EventType = 'thread.updated'): void {
    const { view } = thread;
    const run =
      thread.runs.find(({ status }) => status === 'running' || status === 'waiting') ?? thread.runs.at(-1);
    const pending = thread.approvals.filter(({ approval }) => approval.status === 'pending');
    const work = blockersOf(app, view.id);
    Object.assign(view, {
      latestRunId: thread.runs.at(-1)?.id ?? null,
      runStatus: run?.status ?? null,
      runStartedAt: run?.startedAt ?? null,
      runTurnStartedAt: run?.startedAt ?? null,
      runActiveSegmentStartedAt: run?.status === 'running' ? run.startedAt : null,
      runSteerable: run?.status === 'running' || run?.status === 'waiting' ? false : null,
      runActiveDurationMs: run?.activeDurationMs ?? null,
      runActiveDurationProvenance: run ? 'accounted' : null,
      waitingOn: pending.map(({ approval }) => `approval:${approval.id}`),
      blockedOn: work.map(({ kind, id }) => `${kind}:${id}`),
      pendingWakeups: thread.runs.filter(({ status }) => status === 'queued').length,
      updatedAt: this.now(),
      version: view.version + 1,
      status: statusOf(thread, run, work.length > 0),
    } satisfies Partial<Thread>);
    this.publish(app, type, { id: view.id, status: view.status }, { threadId: view.id });
  }
}

function blockersOf(app: AppState, threadId: string): { kind: 'apply' | 'build'; id: string }[] {
  const applies = app.applies.filter((apply) => apply.threadId === threadId && isOpen(apply));
  const builds = app.builds.filter(({ build }) => build.threadId === threadId && isOpen(build));
  return [
    ...applies.map(({ id }) => ({ kind: 'apply' as const, id })),
    ...builds.map(({ build: { id } }) => ({ kind: 'build' as const, id })),
  ];
}

function statusOf(
  { view, runs, hasFailed }: ThreadState,
  run: Run | undefined,
  isBlocked: boolean,
): Thread['status'] {
  if (view.archivedAt !== null) return 'archived';
  if (run?.status === 'running' || run?.status === 'waiting') return run.status;
  if (isBlocked) return 'blocked';
  const isPreparing = view.initializationState === 'accepted' || view.initializationState === 'preparing';
  if (isPreparing || runs.some(({ status }) => status === 'queued')) return 'queued';
  return hasFailed ? 'failed' : 'ready';
}

/** Refuses work on an archived, sealed or busy thread, in that order. */
export function requireFree(
  { app, thread: { view, runs } }: Place,
  { mayRun = false, maySeal = false }: { mayRun?: boolean; maySeal?: boolean } = {},
): void {
  if (view.archivedAt !== null)
    throw new Fault('thread_archived', 'The thread is archived. Unarchive it first.');
  if (view.sealedAt !== null && !maySeal)
    throw new Fault('draft_sealed', 'This draft was applied. Continue in a new thread.');
  if (!mayRun && runs.some(isOpen)) throw busy('run');
  const [blocker] = blockersOf(app, view.id);
  if (blocker) throw busy(blocker.kind);
}
