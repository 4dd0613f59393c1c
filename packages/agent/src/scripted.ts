import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { serveAgent, type Turn } from './acp.ts';
import { DraftTree, insideOf } from './draft-tree.ts';
import { applyEnvelope, isEnvelope } from './envelope.ts';
import { fenced } from './fences.ts';
import { scriptOf } from './script.ts';
import { runShell } from './shell.ts';
import { applyUnifiedDiff, parseUnifiedDiff } from './unified-diff.ts';

/**
 * The agent without a model: it executes a message's fenced blocks in order, up to the first that fails. `sh`
 * blocks are tool calls, each with its own permission; `patch` and `file PATH` change the workspace at once.
 * It ignores other blocks and all other text.
 */
const ROOT = process.cwd();
const SHOWN_BYTES = 8 * 1024;
const TITLE_CHARACTERS = 120;
const NO_BLOCKS =
  'There was nothing to run: this thread uses the scripted agent, which only does what fenced blocks ' +
  '(sh, patch, file PATH) in a message say. To have messages understood, configure a model: store a ' +
  'key with PUT /api/model-keys/{provider} and set modelId in the settings, for example to ' +
  'anthropic/<model>.\n';

/** A block that failed; the message is for the reply. */
class BlockFailure extends Error {}

interface Block {
  name: string;
  run(turn: Turn, number: number): Promise<string> | string;
}

function blocksOf(prompt: string): Block[] {
  return scriptOf(prompt).map((step): Block => {
    const { content } = step;
    if (step.kind === 'sh') return { name: 'sh', run: (turn, number) => shell(turn, content, number) };
    if (step.kind === 'patch') return { name: 'patch', run: () => patch(content) };
    return { name: `file ${step.path}`, run: () => write(step.path, content) };
  });
}

function write(path: string, content: string): string {
  const file = insideOf(ROOT, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return `Wrote ${path}.`;
}

/** Applies all of a patch or nothing of it. */
function patch(text: string): string {
  const tree = new DraftTree(ROOT);
  const bytes = Buffer.from(text).toString('latin1');
  const done = isEnvelope(text)
    ? applyEnvelope(tree, bytes)
    : applyUnifiedDiff(tree, parseUnifiedDiff(bytes));
  tree.commit();
  return `Patched: ${done.join(', ')}.`;
}

async function shell(turn: Turn, command: string, number: number): Promise<string> {
  const firstLine = command.trim().split('\n')[0]!;
  const title =
    firstLine.length > TITLE_CHARACTERS ? `${firstLine.slice(0, TITLE_CHARACTERS)}…` : firstLine || 'sh';
  const call = { toolCallId: `call-${number}`, title };
  turn.update({
    sessionUpdate: 'tool_call',
    ...call,
    kind: 'execute',
    status: 'pending',
    rawInput: { command },
    _meta: { 'headrace/tool': 'sh' },
  });
  const { outcome } = await turn.askPermission({
    toolCall: call,
    options: [
      { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
      { optionId: 'reject', name: 'Deny', kind: 'reject_once' },
    ],
  });
  const report = (status: 'in_progress' | 'completed' | 'failed', text?: string, truncated = false): void =>
    turn.update({
      sessionUpdate: 'tool_call_update',
      toolCallId: call.toolCallId,
      status,
      ...(text === undefined ? {} : { content: [{ type: 'content', content: { type: 'text', text } }] }),
      _meta: { 'headrace/truncated': truncated },
    });
  if (outcome.outcome !== 'selected' || outcome.optionId !== 'allow') {
    report('failed', 'The command was not allowed to run.');
    throw new BlockFailure(`\`${title}\` was not allowed to run.`);
  }
  report('in_progress');
  const { exitCode, signal, output, truncated } = await runShell(command, ROOT);
  report(exitCode === 0 ? 'completed' : 'failed', output, truncated);
  const shown = output === '' ? ' without output.' : `:\n\n${fenced(shortened(output, truncated))}`;
  if (exitCode !== 0)
    throw new BlockFailure(`\`${title}\` ended with ${signal ?? `exit code ${exitCode}`}${shown}`);
  return `Ran \`${title}\`${shown}`;
}

/** The beginning and the end: the reason of a failure is usually last. */
function shortened(output: string, isCut: boolean): string {
  if (output.length <= SHOWN_BYTES) return isCut ? `${output}\n[cut]` : output;
  const [head, tail] = [output.slice(0, SHOWN_BYTES / 2), output.slice(-SHOWN_BYTES / 2)];
  return `${head}\n[… ${output.length - SHOWN_BYTES} characters left out …]\n${tail}`;
}

serveAgent(async (turn) => {
  const blocks = blocksOf(turn.prompt);
  if (blocks.length === 0) turn.say(NO_BLOCKS);
  for (const [i, block] of blocks.entries()) {
    try {
      turn.say(`${await block.run(turn, i + 1)}\n\n`);
    } catch (error) {
      const reason = `Block ${i + 1} (${block.name}) failed`;
      turn.say(`${reason}: ${(error as Error).message}\n`);
      return {
        stopReason: 'end_turn',
        _meta: {
          'headrace/scriptFailed': `${reason}: ${(error as Error).message.split('\n')[0]!.replace(/:$/, '')}`,
        },
      };
    }
  }
  return { stopReason: 'end_turn' };
});
