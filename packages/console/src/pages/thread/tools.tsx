/** The tool calls of a run. */
import type { Tool } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { memo, useState } from 'react';
import { Plain } from '../../code/plain.tsx';
import { toolsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Button } from '../../ui/button.tsx';
import { Failure, Skeleton } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Took } from '../../ui/values.tsx';
import { useThread } from './context.ts';
import { LastLines, Output } from './output.tsx';
import { inputOf } from './tool-input.ts';

export function Tools({ runId, isActive }: { runId: string; isActive: boolean }) {
  const { appId, threadId } = useThread();
  const query = useInfiniteQuery(toolsQuery(appId, threadId, runId));
  if (query.error && !query.data) return <Failure error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton lines={1} height={28} />;
  const tools = itemsOf(query.data);
  if (tools.length === 0)
    return <p className="text-12 text-ink-3">{isActive ? 'No tool was used yet.' : 'No tool was used.'}</p>;
  return (
    <div>
      <ol className="border-t border-line">
        {tools.map((tool) => (
          <ToolRow key={tool.id} tool={tool} />
        ))}
      </ol>
      {query.hasNextPage && <Button onPress={() => void query.fetchNextPage()}>Show more tools</Button>}
    </div>
  );
}

const ToolRow = memo(({ tool }: { tool: Tool }) => {
  const [isOpen, setOpen] = useState(false);
  const { command, json } = inputOf(tool.input);
  const title = tool.title ?? command?.split('\n')[0] ?? tool.name;
  const output = tool.output ?? '';
  return (
    <li className="border-b border-line">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex min-h-7 w-full items-center gap-2 py-1 text-left hover:bg-sunk"
      >
        {isOpen ? <ChevronDown size={12} aria-hidden /> : <ChevronRight size={12} aria-hidden />}
        <Status status={tool.status} bare />
        <span className={`truncate ${command === null ? '' : 'font-mono text-mono'}`}>
          <Plain text={title} />
        </span>
        <span className="ml-auto flex items-center gap-2 pl-2 text-12 whitespace-nowrap text-ink-3">
          {title !== tool.name && <Plain text={tool.name} />}
          {tool.startedAt !== null && <Took from={tool.startedAt} to={tool.finishedAt} />}
        </span>
      </button>
      {isOpen ? (
        <div className="flex flex-col gap-1 pb-2 pl-5">
          {command !== null && <Output text={`$ ${command}`} label="Command" />}
          {json !== null && <Output text={json} label="Input" />}
          {output !== '' && <Output text={output} label="Output" />}
          {output === '' && (
            <p className="text-12 text-ink-3">{tool.finishedAt === null ? 'No output yet.' : 'No output.'}</p>
          )}
          {tool.truncated && (
            <p className="text-12 text-ink-3">The service kept only a part of the output.</p>
          )}
        </div>
      ) : (
        output !== '' && (
          <div className="pb-1 pl-5">
            <LastLines text={output} />
          </div>
        )
      )}
    </li>
  );
});
