/** How a run ended, and what to do next. */
import type { Run } from '@headrace/client';
import { oneLine, shown } from '../terminal/escape.ts';
import { usd } from '../terminal/money.ts';
import type { Paint } from '../terminal/style.ts';
import { lasting } from '../terminal/times.ts';

export const isEnded = (run: Run | undefined): boolean =>
  run?.status === 'completed' || run?.status === 'failed' || run?.status === 'cancelled';

/** The source that a completed run made; null if it changed no file. */
export const changeOf = ({ resultSourceId, baseSourceId }: Run): string | null =>
  resultSourceId === baseSourceId ? null : resultSourceId;

/** The commands after a change. */
export const afterChange = (threadId: string): string =>
  `headrace diff -t ${threadId} shows the change, headrace apply ${threadId} merges it`;

const RETRY = 'headrace retry, or headrace send with what to do differently';
const NEXT: Readonly<Partial<Record<NonNullable<Run['error']>['code'], string>>> = {
  spend_limit_reached: 'Raise the limit: headrace thread update --spend-limit USD, then headrace retry',
  not_configured: 'headrace models lists the models that can be used: headrace send --model MODEL',
  sandbox_lost: 'headrace retry',
  worker_lost: 'headrace retry',
  workspace_unavailable: 'headrace retry',
};

/** `isApplied`: the command applies the change itself. */
export function runEnd(run: Run, paint: Paint, isApplied = false): string[] {
  const took = `${lasting(run.activeDurationMs)}, ${usd(run.usage.costMicros)}`;
  const warnings = run.warnings.map(({ path, reason }) =>
    paint('yellow', `! ${oneLine(path)}: ${oneLine(reason)}`),
  );
  if (run.status === 'completed') {
    const source = changeOf(run);
    const result = source === null ? 'no file changed' : source;
    return [
      ...warnings,
      `${paint('green', '✓')} The run completed: ${result}  ${paint('dim', took)}`,
      ...(source === null || isApplied ? [] : [paint('dim', `→ ${afterChange(run.threadId)}`)]),
    ];
  }
  if (run.status === 'cancelled')
    return [...warnings, `${paint('gray', '-')} The run was stopped  ${paint('dim', took)}`];
  const { code, message } = run.error ?? { code: 'agent_error' as const, message: '' };
  return [
    ...warnings,
    `${paint('red', '✗')} The run failed: ${code}  ${paint('dim', took)}`,
    ...shown(message)
      .split('\n')
      .map((line) => `  ${line}`),
    paint('dim', `→ ${NEXT[code] ?? RETRY}`),
  ];
}
