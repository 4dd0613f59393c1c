import { clean } from '../db/clean-text.ts';
import type { ProjectRow, RunRow, ToolRow } from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { scopeOf } from '../projects/index.ts';
import { insertApproval } from './store.ts';

/** Opens a question about a tool call of a locked thread's run: `approval.requested`. */
export async function requestApproval(
  tx: Tx,
  { project, run, tool }: { project: ProjectRow; run: RunRow; tool: ToolRow },
  { requestId, title, timeoutSeconds }: { requestId: string; title: string; timeoutSeconds: number },
): Promise<void> {
  const id = newId('apr');
  await insertApproval(
    tx,
    {
      org_id: run.org_id,
      id,
      thread_id: run.thread_id,
      run_id: run.id,
      tool_id: tool.id,
      request_id: requestId,
      title: clean(title).slice(0, 500) || tool.name,
    },
    timeoutSeconds,
  );
  appendEvent(tx, { ...scopeOf(project), threadId: run.thread_id, runId: run.id }, 'approval.requested', {
    id,
    sourceEventId: tool.first_event_id,
  });
}
