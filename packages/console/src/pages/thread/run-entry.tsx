/** A run: its state, what it cost, what it used, how it ended. */
import type { Checkpoint, Run } from '@headrace/client';
import { Link } from '@tanstack/react-router';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { memo } from 'react';
import { Plain } from '../../code/plain.tsx';
import { Status } from '../../ui/status.tsx';
import { count, dollars, duration, plural, Took } from '../../ui/values.tsx';
import { useThread } from './context.ts';
import { isActive } from './entries.ts';
import { Row } from './entry.tsx';
import { ForkHere } from './fork-here.tsx';
import { Restore } from './restore.tsx';
import { RetryButton } from './run-actions.tsx';
import { errorNext, errorTitle, kindWord } from './run-words.ts';
import { Tools } from './tools.tsx';

interface RunEntryProps {
  run: Run;
  checkpoint: Checkpoint | null;
  isOpen: boolean;
  onOpen: (runId: string, isOpen: boolean) => void;
}

export const RunEntry = memo(({ run, checkpoint, isOpen, onOpen }: RunEntryProps) => {
  const active = isActive(run);
  return (
    <Row side={<span className="md:leading-7">{kindWord(run.kind) ?? 'Run'}</span>}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-12 text-ink-3 md:min-h-7">
        <Status status={run.status} />
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => onOpen(run.id, !isOpen)}
          className="inline-flex min-h-6 items-center gap-1 text-ink-2 hover:text-ink"
        >
          {isOpen ? <ChevronDown size={12} aria-hidden /> : <ChevronRight size={12} aria-hidden />}
          Tools
        </button>
        <RunNumbers run={run} />
        <RunResult run={run} checkpoint={checkpoint} />
      </div>
      {isOpen && <Tools runId={run.id} isActive={active} />}
      <RunError run={run} />
      <Warnings run={run} />
    </Row>
  );
});

export function RunNumbers({ run }: { run: Run }) {
  const { inputTokens, outputTokens, costMicros } = run.usage;
  return (
    <>
      {run.status === 'running' ? (
        <Took from={run.startedAt} to={null} />
      ) : (
        run.startedAt !== null && <span className="tabular-nums">{duration(run.activeDurationMs)}</span>
      )}
      <span title="Model" className="long font-mono text-mono">
        {run.modelId}
      </span>
      {costMicros > 0 && (
        <span
          className="tabular-nums"
          title={`${count(inputTokens)} tokens in, ${count(outputTokens)} tokens out`}
        >
          {dollars(costMicros)}
        </span>
      )}
    </>
  );
}

/** What it changed, and the way back to it. */
export function RunResult({ run, checkpoint }: { run: Run; checkpoint: Checkpoint | null }) {
  const { appId, threadId } = useThread();
  const { baseSourceId, resultSourceId } = run;
  if (run.status === 'completed' && resultSourceId !== null && resultSourceId === baseSourceId)
    return <span>no file changed</span>;
  const source = resultSourceId ?? checkpoint?.sourceId ?? null;
  if (source === null) return null;
  return (
    <>
      {baseSourceId !== null && baseSourceId !== source && (
        <Link
          to="/apps/$appId/diff"
          params={{ appId }}
          search={{ from: baseSourceId, to: source, thread: threadId }}
          className="link"
        >
          {resultSourceId === null ? 'What it had changed' : 'Changes'}
        </Link>
      )}
      <Link to="/apps/$appId/sources/$sourceId" params={{ appId, sourceId: source }} className="link">
        Files
      </Link>
      {checkpoint && <Restore checkpoint={checkpoint} />}
      {checkpoint && <ForkHere checkpointId={checkpoint.id} />}
    </>
  );
}

function RunError({ run: { error, id } }: { run: Run }) {
  const { thread } = useThread();
  if (!error) return null;
  return (
    <div className="flex flex-col items-start gap-1 border-l-2 border-fail bg-fail-wash px-3 py-2">
      <p className="font-bold">{errorTitle(error.code)}</p>
      <pre
        className="long max-h-48 w-full overflow-auto font-mono text-mono whitespace-pre-wrap"
        tabIndex={0}
        aria-label="Error"
      >
        <Plain text={error.message} />
      </pre>
      <p className="text-ink-2">{errorNext(error.code)}</p>
      {thread.latestRunId === id && thread.status === 'failed' && <RetryButton />}
    </div>
  );
}

function Warnings({ run: { warnings } }: { run: Run }) {
  if (warnings.length === 0) return null;
  return (
    <details className="text-12">
      <summary className="min-h-6 py-1 text-wait">
        {plural(warnings.length, 'warning')}: left out or refused
      </summary>
      <ul className="max-h-64 overflow-auto pl-3">
        {warnings.map(({ path, reason }, at) => (
          <li key={at} className="long">
            <span className="font-mono text-mono">
              <Plain text={path} />
            </span>{' '}
            <span className="text-ink-3">
              <Plain text={reason} />
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
