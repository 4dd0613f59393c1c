/**
 * Tools that the agent runs are passed on. Those that the provider runs (search, fetch, code, containers,
 * connectors) cost more than tokens and reach out of the sandbox: they are removed, and the model does
 * without.
 */
import type { Wire } from '../config-file.ts';
import { isObject } from './body.ts';

const ANTHROPIC = /^(custom|(bash|text_editor|memory|computer|tool_search_tool)_\w+)$/;
const OPENAI = new Set(['function', 'custom', 'local_shell', 'apply_patch', 'tool_search']);

/**
 * Removes the provider's tools from `tools` and `tool_choice`. Returns how many of the rest the provider
 * describes: their descriptions are not in the body.
 */
export function keepOwnTools(wire: Wire, body: Record<string, unknown>): number {
  if (!Array.isArray(body.tools)) {
    delete body.tools;
    return 0;
  }
  const kept = (body.tools as unknown[]).map((tool) => own(wire, tool)).filter((tool) => tool !== null);
  if (kept.length !== body.tools.length && !isPossible(body.tool_choice, kept)) delete body.tool_choice;
  if (kept.length > 0) body.tools = kept;
  else delete body.tools;
  return kept.filter((tool) => tool.type !== undefined && tool.type !== 'custom' && tool.type !== 'function')
    .length;
}

/** Whether the agent runs all of these tools: an item of a conversation may add tools that it has found. */
export const areOwnTools = (tools: readonly unknown[]): boolean =>
  tools.every((tool) =>
    isObject(tool) && tool.type === 'namespace'
      ? Array.isArray(tool.tools) && areOwnTools(tool.tools)
      : own('openai-responses', tool) !== null,
  );

function own(wire: Wire, tool: unknown): Record<string, unknown> | null {
  if (!isObject(tool)) return null;
  if (wire === 'anthropic')
    return tool.type === undefined ||
      tool.type === null ||
      (typeof tool.type === 'string' && ANTHROPIC.test(tool.type))
      ? tool
      : null;
  if (tool.type === 'shell')
    return isObject(tool.environment) && tool.environment.type === 'local' ? tool : null;
  if (tool.type === 'namespace')
    return {
      ...tool,
      tools: Array.isArray(tool.tools)
        ? (tool.tools as unknown[]).map((inner) => own(wire, inner)).filter((inner) => inner !== null)
        : [],
    };
  return OPENAI.has(String(tool.type)) ? tool : null;
}

/** Whether a choice still holds for the tools that are left: a word such as `auto`, or a tool's name. */
function isPossible(choice: unknown, kept: Record<string, unknown>[]): boolean {
  if (kept.length === 0) return false;
  if (!isObject(choice)) return true;
  const name = isObject(choice.function) ? choice.function.name : choice.name;
  if (name === undefined) return ['auto', 'any', 'none'].includes(String(choice.type));
  return kept.some((tool) => (isObject(tool.function) ? tool.function.name : tool.name) === name);
}
