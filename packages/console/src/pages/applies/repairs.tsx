/** Attempts of an agent to repair conflicts, as steps. */
import type { Apply } from '@headrace/client';
import { Link } from '@tanstack/react-router';
import { Plain } from '../../code/index.ts';
import { Status } from '../../ui/status.tsx';
import { CopyButton, Id, Time } from '../../ui/values.tsx';

export function Repairs({ apply }: { apply: Apply }) {
  const { projectId: appId, threadId, status, repairs } = apply;
  return (
    <ol className="flex flex-col">
      {repairs.map((repair, at) => {
        const isLast = at === repairs.length - 1;
        const state = repair.error
          ? 'failed'
          : isLast && status === 'queued'
            ? 'running'
            : isLast && status === 'applied'
              ? 'applied'
              : (repair.report?.status ?? 'completed');
        return (
          <li key={at} className="flex flex-col gap-1 border-b border-line px-4 py-2">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <span className="font-bold">Attempt {at + 1}</span>
              <Status status={state} {...(repair.error && { word: 'refused' })} />
              <span className="text-ink-3">
                <Time at={repair.startedAt} />
              </span>
              {repair.revision !== null && (
                <span className="text-ink-3">with revision {repair.revision}</span>
              )}
              {repair.runId && (
                <Link
                  to="/apps/$appId/threads/$threadId"
                  params={{ appId, threadId }}
                  search={{ panel: 'runs' }}
                  className="link"
                >
                  Run
                </Link>
              )}
              {repair.runId && <Id value={repair.runId} />}
            </div>
            {repair.error && (
              <p className="long text-fail">
                <Plain text={repair.error} />
              </p>
            )}
            {repair.report && (
              <>
                <p className="long whitespace-pre-wrap">
                  <Plain text={repair.report.summary} />
                </p>
                {repair.report.checks.length > 0 && (
                  <ul className="list-disc pl-4 text-ink-2">
                    {repair.report.checks.map((check, i) => (
                      <li key={i} className="long">
                        <Plain text={check} />
                      </li>
                    ))}
                  </ul>
                )}
              </>
            )}
            {repair.candidateFingerprint && (
              <p className="flex min-w-0 items-center gap-1 text-12 text-ink-3">
                Files left
                <span className="truncate font-mono">{repair.candidateFingerprint.slice(0, 16)}…</span>
                <CopyButton text={repair.candidateFingerprint} label="Copy the fingerprint" />
              </p>
            )}
          </li>
        );
      })}
    </ol>
  );
}
