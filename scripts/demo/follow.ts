/** Shows what a thread does while it does it: the reply as it grows, and tool calls. */
import type { FollowItem } from '@headrace/client';
import type { Output } from './output.ts';

/** Shows all items. This is only a display: its errors do not fail the demo. */
export async function show(output: Output, name: string, items: AsyncIterable<FollowItem>): Promise<void> {
  let shown = '';
  try {
    for await (const item of items) {
      if (item.kind === 'draft') {
        // A revision replaces the previous one; with this agent, each starts with the previous one.
        const { content, revision } = item.draft;
        const fresh = content.startsWith(shown) ? content.slice(shown.length) : content;
        shown = content;
        for (const line of sentences(fresh)) output.detail(name, `draft ${revision}: ${line}`);
      } else if (item.kind === 'run') output.detail(name, `run ${item.run.status}`);
      else if (item.kind === 'tool')
        output.detail(name, `tool ${item.tool.status}: ${item.tool.title ?? item.tool.name}`);
    }
  } catch (error) {
    output.detail(name, `not shown further: ${(error as Error).message}`);
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
