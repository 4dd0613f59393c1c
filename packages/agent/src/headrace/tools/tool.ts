import type { ToolKind } from '@agentclientprotocol/sdk';
import type { Processes } from './processes.ts';
import type { Schema } from './schema.ts';

export interface Image {
  mediaType: string;
  /** Base64. */ data: string;
}

export interface ToolResult {
  /** What the model reads. */
  text: string;
  isError?: boolean;
  /** Whether the tool left something of its output out. */
  isCut?: boolean;
  /** Shown to the model beside the text. */
  images?: Image[];
}

export interface Workplace {
  /** The workspace's folder, absolute and without links. */
  root: string;
  processes: Processes;
  /** The agent's own program, which knows how to search in a thread. */
  program: string;
}

export interface Tool {
  name: string;
  description: string;
  schema: Schema;
  kind: ToolKind;
  /** Has effects: it goes one at a time and in order. Others run side by side. */
  hasEffects: boolean;
  /** For a person, in a line. */
  title(input: Record<string, unknown>): string;
  /** Throws an Error whose message is told to the model. */
  run(input: Record<string, unknown>, workplace: Workplace): Promise<ToolResult> | ToolResult;
}
