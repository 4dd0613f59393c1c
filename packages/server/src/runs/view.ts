import type { RunRow, ToolRow } from '../db/schema.ts';
import { activeDurationMs } from '../threads/index.ts';

export const runView = (r: RunRow) => ({
  id: r.id,
  threadId: r.thread_id,
  messageId: r.message_id,
  kind: r.kind,
  agent: r.agent,
  modelId: r.model_id,
  status: r.status,
  baseSourceId: r.base_source_id,
  resultSourceId: r.result_source_id,
  error: r.error_code === null ? null : { code: r.error_code, message: r.error_message ?? r.error_code },
  usage: {
    inputTokens: r.input_tokens,
    outputTokens: r.output_tokens,
    cachedTokens: r.cached_tokens,
    costMicros: r.cost_micros,
  },
  warnings: r.warnings,
  activeDurationMs: activeDurationMs(r),
  createdAt: r.created_at.toISOString(),
  startedAt: r.started_at?.toISOString() ?? null,
  finishedAt: r.finished_at?.toISOString() ?? null,
});

export const toolView = (t: ToolRow) => ({
  id: t.id,
  threadId: t.thread_id,
  runId: t.run_id,
  name: t.name,
  title: t.title,
  status: t.status,
  input: t.input,
  output: t.output,
  truncated: t.truncated,
  startedAt: t.started_at?.toISOString() ?? null,
  finishedAt: t.finished_at?.toISOString() ?? null,
});
