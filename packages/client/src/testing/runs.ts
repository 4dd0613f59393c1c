/**
 * Runs with the agent `scripted`: it executes the `file PATH` and `sh` blocks of a message. There is no shell:
 * `sh` supports `echo`, `rm`, `true`, `false` and `exit`, and otherwise calls the test's own `shell`.
 */
import type { Message, Run, Tool } from '../generated/types.ts';
import { sorted, textEntry, textOf, treeHash } from './files.ts';
import { addSource } from './sources.ts';
import type { Entry, Files, Place, ShellResult } from './world.ts';
import { ACTOR, isOpen } from './world.ts';

interface NewRun {
  kind: Run['kind'];
  message: Message;
  modelId?: string | undefined;
}
interface RunEnd {
  run: Run;
  status: 'completed' | 'failed' | 'cancelled';
  reply: string | null;
  replyId?: string;
  error?: string;
  files?: Files;
}
interface Turn extends Place {
  run: Run;
  /** The id that the reply will have. */
  replyId: string;
  draft: Map<string, Entry>;
}

const BLOCK = /^(`{3,}|~{3,})[ \t]*(.*)\n([\s\S]*?)^\1[ \t]*$/gm;
const NO_BLOCKS =
  'There was nothing to run: the scripted agent does what fenced blocks (sh, file PATH) say.\n';
const APPROVAL_MS = 86_400_000;

class BlockFailure extends Error {}

export function queueRun(place: Place, { kind, message, modelId }: NewRun): Run {
  const { world, thread } = place;
  const run: Run = {
    id: world.id('run'),
    threadId: thread.view.id,
    messageId: message.id,
    kind,
    agent: 'scripted',
    modelId: modelId ?? thread.view.modelId ?? 'scripted',
    status: 'queued',
    baseSourceId: null,
    resultSourceId: null,
    error: null,
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costMicros: 0 },
    warnings: [],
    activeDurationMs: 0,
    createdAt: world.now(),
    startedAt: null,
    finishedAt: null,
  };
  thread.runs.push(run);
  publish(place, run);
  const before = thread.tail;
  thread.tail = world.work.begin(async () => {
    await before;
    await work(place, run, message.content);
  });
  return run;
}

/** After each change of a run's status. */
function publish({ world, app, thread }: Place, { id, status, threadId }: Run): void {
  world.publish(app, `run.${status}`, { id, status }, { threadId, runId: id });
  world.changed(app, thread);
}

async function work(place: Place, run: Run, content: string): Promise<void> {
  const { world, app, thread } = place;
  await world.work.step();
  if (!isOpen(run)) return;
  const base = app.sources.get(thread.view.latestSourceId!)!;
  Object.assign(run, { status: 'running', startedAt: world.now(), baseSourceId: base.source.id });
  thread.view.stopRequestedAt = null;
  publish(place, run);
  const turn: Turn = { ...place, run, replyId: world.id('msg'), draft: new Map(base.files) };
  const end = await perform(turn, content);
  if (isOpen(run)) endRun(place, { run, files: turn.draft, replyId: turn.replyId, ...end });
}

/** Runs the blocks one by one; the text grows in a draft. */
async function perform(turn: Turn, content: string): Promise<Pick<RunEnd, 'status' | 'reply' | 'error'>> {
  const { world } = turn;
  let text = '';
  const say = (more: string) => {
    text += more;
    const { replyId: messageId, run } = turn;
    const revision = (world.log.drafts.get(run.threadId)?.revision ?? 0) + 1;
    world.log.showDraft({ threadId: run.threadId, messageId, runId: run.id, revision, content: text });
  };
  const blocks = [...content.matchAll(BLOCK)]
    .map(([, , info, body]) => ({ info: info!.trim(), body: body! }))
    .filter(({ info }) => info === 'sh' || info === 'patch' || info.startsWith('file '));
  if (blocks.length === 0) say(NO_BLOCKS);
  for (const [i, { info, body }] of blocks.entries()) {
    await world.work.step();
    try {
      if (turn.thread.view.stopRequestedAt === null && isOpen(turn.run))
        say(`${await performBlock(turn, info, body)}\n\n`);
    } catch (error) {
      if (!(error instanceof BlockFailure)) throw error;
      if (turn.thread.view.stopRequestedAt === null) {
        const reason = `Block ${i + 1} (${info}) failed: ${error.message}`;
        return {
          status: 'failed',
          reply: `${text}${reason}\n`,
          error: reason.split('\n')[0]!.replace(/:$/, ''),
        };
      }
    }
    if (turn.thread.view.stopRequestedAt !== null)
      return { status: 'cancelled', reply: text ? `${text}\n\n[interrupted]` : '[interrupted]' };
  }
  return { status: 'completed', reply: text };
}

async function performBlock(turn: Turn, info: string, body: string): Promise<string> {
  if (info === 'sh') return command(turn, body);
  if (info === 'patch') throw new BlockFailure('The test service executes no patches. Write files instead.');
  const path = info.slice('file '.length).trim();
  turn.draft.set(path, textEntry(body, turn.draft.get(path)?.executable));
  return `Wrote ${path}.`;
}

async function command(turn: Turn, text: string): Promise<string> {
  const { world, thread, run } = turn;
  const title = text.trim().split('\n')[0]!;
  const tool: Tool = {
    id: world.id('tool'),
    threadId: run.threadId,
    runId: run.id,
    name: 'sh',
    title,
    status: 'pending',
    input: { command: text },
    output: null,
    truncated: false,
    startedAt: null,
    finishedAt: null,
  };
  thread.tools.push(tool);
  setTool(turn, tool, 'pending');
  if (world.settings.approvals === 'ask' && !(await ask(turn, tool))) {
    setTool(turn, tool, 'failed', 'The command was not allowed to run.');
    throw new BlockFailure(`\`${title}\` was not allowed to run.`);
  }
  setTool(turn, tool, 'running');
  const { exitCode = 0, output = '' } = await runShell(turn, text);
  setTool(turn, tool, exitCode === 0 ? 'completed' : 'failed', output);
  const shown = output === '' ? ' without output.' : `:\n\n\`\`\`\n${output.replace(/\n?$/, '\n')}\`\`\``;
  if (exitCode !== 0) throw new BlockFailure(`\`${title}\` ended with exit code ${exitCode}${shown}`);
  return `Ran \`${title}\`${shown}`;
}

function setTool({ world, app, run }: Turn, tool: Tool, status: Tool['status'], output?: string): void {
  if (!isOpen(run)) return;
  tool.status = status;
  if (status === 'running') tool.startedAt = world.now();
  if (output !== undefined) Object.assign(tool, { output, finishedAt: world.now() });
  world.publish(app, 'tool.updated', { id: tool.id, status }, { threadId: run.threadId, runId: run.id });
}

/** Asks the caller whether a command may run. Also false if the run was stopped meanwhile. */
async function ask(turn: Turn, tool: Tool): Promise<boolean> {
  const { world, app, thread, run } = turn;
  const id = world.id('apr');
  const at = { threadId: run.threadId, runId: run.id };
  const expiresAt = new Date(world.ms() + APPROVAL_MS).toISOString();
  const about = { threadId: run.threadId, runId: run.id, toolId: tool.id, title: tool.title ?? 'sh' };
  const times = { createdAt: world.now(), expiresAt, resolvedBy: null, resolvedAt: null };
  const decision = await world.work.external(
    new Promise<'approve' | 'deny' | null>((resolve) => {
      const approval = { id, ...about, status: 'pending' as const, ...times };
      const answer = (decided: 'approve' | 'deny' | null) => {
        const status = decided === null ? 'expired' : decided === 'approve' ? 'approved' : 'denied';
        Object.assign(approval, { status, resolvedBy: decided && ACTOR, resolvedAt: world.now() });
        world.publish(app, 'approval.resolved', { id, sourceEventId: null }, at);
        if (run.status === 'waiting' && decided !== null) {
          run.status = 'running';
          publish(turn, run);
        }
        resolve(decided);
      };
      thread.approvals.push({ approval, answer });
      run.status = 'waiting';
      world.publish(app, 'approval.requested', { id, sourceEventId: null }, at);
      publish(turn, run);
    }),
  );
  return decision === 'approve';
}

async function runShell({ world: { settings }, draft }: Turn, text: string): Promise<ShellResult> {
  const files = new Map(
    [...draft].flatMap(([path, entry]) => {
      const content = textOf(entry);
      return content === null ? [] : [[path, content] as const];
    }),
  );
  const before = new Map(files);
  const result = (await settings.shell?.(text, files)) ?? plainShell(text, files);
  for (const [path, content] of files)
    if (before.get(path) !== content) draft.set(path, textEntry(content, draft.get(path)?.executable));
  for (const path of before.keys()) if (!files.has(path)) draft.delete(path);
  return result;
}

function plainShell(text: string, files: Map<string, string>): ShellResult {
  let output = '';
  for (const line of text.trim().split('\n')) {
    const [, name = '', rest = ''] = /^\s*(\S*)\s*(.*)$/.exec(line)!;
    if (name === 'echo') output += `${rest.replace(/^(['"])(.*)\1$/, '$2')}\n`;
    else if (name === 'exit') return { exitCode: Number(rest) || 0, output };
    else if (name === 'false') return { exitCode: 1, output };
    else if (name === 'rm') for (const path of rest.split(/\s+/)) files.delete(path);
    else if (name !== 'true' && name !== '')
      return { exitCode: 127, output: `${output}sh: 1: ${name}: not found\n` };
  }
  return { output };
}

/** Ends a run, in the order of the service's log: tools, the source, the reply, the run, the thread. */
export function endRun(place: Place, { run, status, reply, replyId, error, files }: RunEnd): void {
  const { world, app, thread } = place;
  const at = { threadId: run.threadId, runId: run.id };
  for (const { approval, answer } of thread.approvals)
    if (approval.runId === run.id && approval.status === 'pending') answer(null);
  for (const tool of thread.tools.filter((one) => one.runId === run.id && one.finishedAt === null)) {
    Object.assign(tool, { status: status === 'cancelled' ? 'cancelled' : 'failed', finishedAt: world.now() });
    world.publish(app, 'tool.updated', { id: tool.id, status: tool.status }, at);
  }
  if (status === 'completed' && files) keepResult(place, run, files);
  if (reply !== null) {
    const sequence = thread.messages.length + 1;
    const by = { role: 'assistant' as const, clientMessageId: null, attachments: [], createdAt: world.now() };
    const id = replyId ?? world.id('msg');
    thread.messages.push({ id, content: reply || 'Done.', ...at, sequence, ...by });
    world.publish(app, 'message.persisted', { id, role: 'assistant' }, at);
  }
  world.log.removeDraft(run.threadId);
  Object.assign(run, {
    status,
    error: error === undefined ? null : { code: 'script_failed', message: error },
    finishedAt: world.now(),
    activeDurationMs: run.startedAt === null ? 0 : Math.max(0, world.ms() - Date.parse(run.startedAt)),
  });
  thread.hasFailed = status === 'failed';
  publish(place, run);
}

function keepResult({ world, app, thread }: Place, run: Run, files: Files): void {
  const base = app.sources.get(run.baseSourceId!)!;
  const draft = sorted(files);
  run.resultSourceId = base.source.id;
  if (treeHash(draft) === base.source.sha256) return;
  const { threadId, id: runId } = run;
  const source = addSource(world, app, draft, {
    origin: 'run',
    parentSourceIds: [base.source.id],
    threadId,
    runId,
  });
  run.resultSourceId = thread.view.latestSourceId = source.id;
}
