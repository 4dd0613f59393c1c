/** A tool's input as a reader wants it: a command as a command, anything else as JSON. */

export interface ToolInput {
  command: string | null;
  json: string | null;
}

export function inputOf(input: unknown): ToolInput {
  if (input === null || input === undefined) return { command: null, json: null };
  if (typeof input !== 'object' || Array.isArray(input)) return { command: null, json: jsonOf(input) };
  const { command, ...rest } = input as Record<string, unknown>;
  if (typeof command !== 'string') return { command: null, json: jsonOf(input) };
  return { command: command.trimEnd(), json: Object.keys(rest).length > 0 ? jsonOf(rest) : null };
}

const jsonOf = (value: unknown): string => JSON.stringify(value, null, 2);
