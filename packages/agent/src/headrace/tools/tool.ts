import type { ToolKind } from '@agentclientprotocol/sdk';
import type { Processes } from './processes.ts';
import type { Schema } from './schema.ts';

export interface Image {
  mediaType: string;
  /** Base64. */
  data: string;
}

export interface ToolResult {
  /** The text for the model. */
  text: string;
  isError?: boolean;
  /** Whether the tool left out part of its output. */
  isCut?: boolean;
  /** Shown to the model after the text. */
  images?: Image[];
}

export interface Workplace {
  /** The workspace's folder, absolute and without links. */
  root: string;
  /** The folder of the skills' folder, for what the agent is told. */
  context: string;
  processes: Processes;
  /** The agent's own program, which can search in a thread. */
  program: string;
}

export interface Tool {
  name: string;
  description: string;
  schema: Schema;
  kind: ToolKind;
  /** Has effects: runs alone and in order. Others run concurrently. */
  hasEffects: boolean;
  /** For a person, in one line. */
  title(input: Record<string, unknown>): string;
  /** Throws an Error whose message goes to the model. */
  run(input: Record<string, unknown>, workplace: Workplace): Promise<ToolResult> | ToolResult;
}
