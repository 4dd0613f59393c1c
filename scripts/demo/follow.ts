/** Shows what a thread does while it does it: the reply as it grows, and tool calls. */
import type { Client } from '@headrace/client';
import type { Output } from './output.ts';

/**
 * Shows the thread's drafts and tools until `stop`. A view only: whatever goes wrong with it is no failure
 * of the demo.
 */
export function follow(
  client: Client,
  output: Output,
  appId: string,
  threadId: string,
  name: string,
): () => Promise<void> {
  const abort = new AbortController();
  const done = show(client, output, { appId, threadId, name, signal: abort.signal }).catch(() => {});
  return async () => {
    abort.abort();
    await done;
  };
}

async function show(
  client: Client,
  output: Output,
  { appId, threadId, name, signal }: { appId: string; threadId: string; name: string; signal: AbortSignal },
): Promise<void> {
  const titles = new Map<string, string>();
  let shown = '';
  for await (const item of client.events.stream({ appId, threadId }, { signal })) {
    if (item.kind === 'draft') {
      // A revision replaces the one before; of this agent each begins with it.
      const { content } = item.draft;
      const fresh = content.startsWith(shown) ? content.slice(shown.length) : content;
      shown = content;
      for (const line of sentences(fresh)) output.detail(name, `draft ${item.draft.revision}: ${line}`);
    }
    if (item.kind !== 'event') continue;
    const { type, data, runId } = item.event;
    if (type.startsWith('run.')) output.detail(name, type.replace('.', ' '));
    if (type === 'tool.updated' && runId !== null) {
      const { id } = data;
      if (!titles.has(id))
        for (const tool of (await client.runs.tools(appId, threadId, runId, { signal })).items)
          titles.set(tool.id, tool.title ?? tool.name);
      output.detail(name, `tool ${data.status}: ${titles.get(id) ?? id}`);
    }
  }
}

/** The lines of a reply outside of its fenced output. */
function sentences(markdown: string): string[] {
  const lines: string[] = [];
  let isFenced = false;
  for (const line of markdown.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) isFenced = !isFenced;
    else if (!isFenced && line.trim() !== '') lines.push(line.trim());
  }
  return lines;
}
