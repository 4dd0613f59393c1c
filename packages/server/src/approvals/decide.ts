import { createHash } from 'node:crypto';
import type { Db } from '../db/database.ts';
import type { StoredSettings } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { matches } from '../patterns.ts';

export type Rules = NonNullable<StoredSettings['approvals']>;
export type Decision = 'ask' | 'allow' | 'deny';

/**
 * Where agents put a tool's command, or the path of the file that it works on; the first that a call has is
 * what patterns are matched against.
 */
const MATCHED = ['command', 'cmd', 'path', 'file_path', 'filePath'];

/**
 * The command of a tool call without its last newline, its words joined where they come apart; the path,
 * for a tool without a command. Null: the input was too long to be kept, so nobody knows.
 */
export function commandOf(input: unknown): string | null {
  const fields = (input ?? {}) as Record<string, unknown>;
  if (isCut(fields)) return null;
  const value = MATCHED.map((name) => (Object.hasOwn(fields, name) ? fields[name] : undefined)).find(
    (one) => one !== undefined,
  );
  if (Array.isArray(value)) return value.filter((word) => typeof word === 'string').join(' ');
  return typeof value === 'string' ? value.replace(/\n$/, '') : '';
}

/** What the runner puts in place of an input that is too long. */
const isCut = (fields: Record<string, unknown>): boolean =>
  typeof fields === 'object' && Object.keys(fields).join() === 'truncated';

/**
 * The first rule that matches decides; without one the call is allowed. A command that nobody knows matches
 * what would ask about it or deny it.
 */
export function ruleFor(rules: Rules, tool: string, command: string | null): Decision {
  const fits = ({ pattern, decision }: Rules[number]): boolean =>
    pattern === undefined || (command === null ? decision !== 'allow' : matches(pattern, command));
  return rules.find((rule) => rule.tool === tool && fits(rule))?.decision ?? 'allow';
}

/** Remembered answers are kept by the command's digest where it is long: a primary key has a limit. */
export const rememberedKey = (command: string) =>
  command.length <= 500 ? command : `sha256:${createHash('sha256').update(command).digest('hex')}`;

/** What becomes of a tool call: a remembered answer replaces `ask` only, so a `deny` rule goes before it. */
export async function decide(
  db: Db | Tx['db'],
  rules: Rules,
  threadId: string,
  tool: string,
  command: string | null,
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
  return remembered ? (remembered.allow ? 'allow' : 'deny') : 'ask';
}
