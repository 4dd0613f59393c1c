/** What to do after an apply that was not applied. */
import type { Apply } from '@headrace/client';

const ADVICE: Record<string, string> = {
  stale_head:
    'The head moved before its turn, so nothing was decided for it. Look at the preview, and apply again.',
  unresolved: 'Read the agent’s report; resolve by hand, or change the draft.',
  identical_candidates: 'The agent made the same refused files again. Resolve by hand, or change the draft.',
  budget: 'The repair took too long. Resolve by hand, or ask again.',
  spend_limit_reached: 'Raise the thread’s spend limit, or resolve by hand.',
  not_configured: 'No model can repair it here. Configure one, or resolve by hand.',
  invalid_result: 'Make the draft smaller, or remove what breaks the rule that it names.',
  source_unavailable: 'The storage did not answer. Apply again.',
};

export function adviceOf({ status, error }: Pick<Apply, 'status' | 'error'>): string | null {
  if (status !== 'conflicted' && status !== 'failed') return null;
  if (error === null) return 'Resolve the conflicts by hand, or ask the agent.';
  const code = error.slice(0, error.indexOf(':'));
  if (code === 'cancelled')
    return status === 'failed'
      ? 'The thread was archived or deleted.'
      : 'The repair was stopped. Resolve by hand, or ask again.';
  return ADVICE[code] ?? null;
}

/** The service's message without the code before it. */
export const messageOf = (error: string): string => error.replace(/^[a-z_]+: /, '');
