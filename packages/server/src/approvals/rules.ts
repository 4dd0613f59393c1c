/** An app's rules for tool calls: which ones ask, which ones are allowed or denied. */
import type { StoredSettings } from '../db/schema.ts';
import { matches } from '../patterns.ts';

export type Rules = NonNullable<StoredSettings['approvals']>;
export type Decision = 'ask' | 'allow' | 'deny';

/**
 * Where agents put a tool's command, or the path of the file that it works on. Patterns are matched against
 * the first that a call has.
 */
const MATCHED = ['command', 'cmd', 'path', 'file_path', 'filePath'];

/**
 * The command of a tool call without its last newline, its words joined where they are a list; for a tool
 * without a command, the path. Null: the input was too long to be kept, so nobody knows.
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

/** The runner replaces an input that is too long. */
const isCut = (fields: Record<string, unknown>): boolean =>
  typeof fields === 'object' && Object.keys(fields).join() === 'truncated';

/**
 * The first rule that matches decides; a call without one is allowed. An unknown command matches every rule
 * that asks or denies.
 */
export function ruleFor(rules: Rules, tool: string, command: string | null): Decision {
  const fits = ({ pattern, decision }: Rules[number]): boolean =>
    pattern === undefined || (command === null ? decision !== 'allow' : matches(pattern, command));
  return rules.find((rule) => rule.tool === tool && fits(rule))?.decision ?? 'allow';
}
