import type { ToolKind } from '@agentclientprotocol/sdk';
import type { ToolResult } from './tools/tool.ts';

/** A tool as the model and the turn know it: a built-in one or one of an MCP server. */
export interface OfferedTool {
  name: string;
  description: string;
  /** JSON Schema of its input. */
  schema: unknown;
  /** Built in: its input is checked here. */
  isOwn: boolean;
  kind: ToolKind;
  hasEffects: boolean;
  title(input: Record<string, unknown>): string;
  run(input: Record<string, unknown>): Promise<ToolResult> | ToolResult;
}
