/** What an agent asks to do, in full: nobody answers what they do not see. */
import type { Approval, Tool } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Plain } from '../../code/plain.tsx';
import { toolsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Failure, Skeleton } from '../../ui/states.tsx';
import { LongText } from './long-text.tsx';
import { inputOf } from './tool-input.ts';
import { Wrapped } from './wrapped.tsx';

interface Asked {
  /** Undefined until it is read. */
  tool: Tool | undefined;
  error: unknown;
  retry: () => void;
}

/** The tool call that waits for the answer. */
export function useAsked(appId: string, { threadId, runId, toolId }: Approval): Asked {
  const query = useInfiniteQuery(toolsQuery(appId, threadId, runId));
  const tool = itemsOf(query.data).find(({ id }) => id === toolId);
  const { hasNextPage, isFetching, error, fetchNextPage, refetch } = query;
  // It is the last one of a long run.
  const isFurther = !tool && hasNextPage && !isFetching && !error;
  useEffect(() => {
    if (isFurther) void fetchNextPage();
  }, [isFurther, fetchNextPage]);
  return { tool, error, retry: () => void refetch() };
}

/** The whole command, not only its title. */
export function AskedInput({ approval, asked }: { approval: Approval; asked: Asked }) {
  const { tool, error, retry } = asked;
  const { command, json } = inputOf(tool?.input);
  return (
    <>
      <p className="long">
        {tool && (
          <span className="mr-2 font-mono text-mono text-ink-3">
            <Plain text={tool.name} />
          </span>
        )}
        {command === null && (
          <span className="font-bold">
            <Plain text={approval.title} />
          </span>
        )}
      </p>
      {command !== null && <Verbatim text={`$ ${command}`} label="Command" />}
      {json !== null && <Verbatim text={json} label="Input" />}
      {!tool && (error ? <Failure error={error} retry={retry} /> : <Skeleton lines={1} height={28} />)}
    </>
  );
}

/** Not as a terminal shows it: an escape code or a carriage return could hide a part. */
const Verbatim = ({ text, label }: { text: string; label: string }) => (
  <LongText text={text}>
    {(shown) => (
      <pre
        tabIndex={0}
        role="region"
        aria-label={label}
        className="max-h-[480px] overflow-auto rounded bg-sunk px-2 py-1 font-mono text-mono break-all whitespace-pre-wrap"
      >
        <Wrapped text={shown} />
      </pre>
    )}
  </LongText>
);
