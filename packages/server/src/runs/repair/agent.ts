/** Chooses the agent that repairs the conflicts of a merge, and writes its prompt. */
import type { Db } from '../../db/database.ts';
import type { Tx } from '../../db/transaction.ts';
import { effectiveSettings } from '../../settings/index.ts';

const SCRIPT = 'headrace.repairScript';

interface RepairAgent {
  modelId: string;
  prompt: string;
}

/**
 * The thread's model and its prompt; null for a thread at a host, and where that is the scripted agent and the project has no script for
 * it. `failures` says why earlier candidates were refused.
 */
export async function repairAgent(
  db: Db | Tx['db'],
  of: { thread_id: string; project_id: string },
  conflicts: string[],
  failures: string[],
): Promise<RepairAgent | null> {
  const {
    model_id: own,
    metadata,
    execution_target: target,
  } = await db
    .selectFrom('threads as t')
    .innerJoin('projects as p', 'p.id', 't.project_id')
    .select(['t.model_id', 't.execution_target', 'p.metadata'])
    .where('t.id', '=', of.thread_id)
    .executeTakeFirstOrThrow();
  // Both sides and the report of a repair are the service's, and no files of a person's folder.
  if (target) return null;
  const modelId = own ?? (await effectiveSettings(db, of)).modelId;
  if (modelId !== 'scripted') return { modelId, prompt: instructions(conflicts, failures) };
  const script = metadata[SCRIPT];
  return script ? { modelId, prompt: asMessage(script) } : null;
}

/** A script without a fence is a single `sh` block. */
function asMessage(script: string): string {
  return /^ {0,3}(?:```|~~~)/m.test(script) ? script : `\`\`\`sh\n${script}\n\`\`\`\n`;
}

const SHOWN = 100;
const INSTRUCTIONS = [
  'What each side has is in .hoplite/repair/base, head, draft and merge; the conflicts are described in',
  '.hoplite/repair/conflicts.json. Edit the files so that the intents of both the head and the draft',
  'are kept, and leave no conflict markers. Change, add or remove another file only where the',
  'resolution needs it, and name it then, by its path or by a folder above it that ends in a slash, in',
  'the summary or a check of your report: what is changed beside the conflicts without a word refuses',
  'the whole result. Then write .hoplite/repair/report.json: {"status": "resolved", "summary": "what',
  'you did", "checks": ["what you checked"]}. When the intents exclude each other, write the status',
  '"unresolved" and say why in the summary.',
].join(' ');

function instructions(conflicts: string[], failures: string[]): string {
  return `Two changes to this project contradict each other. The workspace holds their merge; the files in conflict stand as in the draft:

${conflicts
  .slice(0, SHOWN)
  .map((path) => `- ${path}`)
  .join('\n')}${conflicts.length > SHOWN ? `\n- and ${conflicts.length - SHOWN} more` : ''}

${INSTRUCTIONS}
${failures.length ? `\nEarlier attempts were refused:\n\n${failures.map((error) => `- ${error}`).join('\n')}\n` : ''}`;
}
