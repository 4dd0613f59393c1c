import { createHash } from 'node:crypto';
import type { Db } from '../db/database.ts';
import { ruleFor } from './rules.ts';
import type { Decision, Rules } from './rules.ts';

/** The command as remembered answers keep it: a long one by its digest, as a primary key has a limit. */
export const rememberedKey = (command: string): string =>
  command.length <= 500 ? command : `sha256:${createHash('sha256').update(command).digest('hex')}`;

/** Decides on a tool call. A remembered answer replaces `ask` only, so a `deny` rule always holds. */
export async function decide(
  db: Db,
  rules: Rules,
  { threadId, tool, command }: { threadId: string; tool: string; command: string | null },
): Promise<Decision> {
  const decision = ruleFor(rules, tool, command);
  if (decision !== 'ask' || command === null) return decision;
  const remembered = await db
    .selectFrom('remembered_decisions')
    .select('allow')
    .where('thread_id', '=', threadId)
    .where('tool', '=', tool)
    .where('command', '=', rememberedKey(command))
    .executeTakeFirst();
  if (!remembered) return 'ask';
  return remembered.allow ? 'allow' : 'deny';
}
