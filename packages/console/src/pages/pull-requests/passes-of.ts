/** Which runs of a thread are passes of its review loop, or repaired conflicts. */
import type { Message, Run } from '@headrace/client';

export interface Pass {
  run: Run;
  /** Null for a repair: of an update from the base, by the loop or by a person. */
  message: Message | null;
}

/** Newest first. A pass is the run of a system message. Since the pull request was made. */
export function passesOf(messages: Message[], runs: Run[], since: string): Pass[] {
  const asked = new Map(messages.filter(({ role }) => role === 'system').map((one) => [one.id, one]));
  return runs
    .filter(({ createdAt }) => createdAt >= since)
    .flatMap((run): Pass[] => {
      const message = asked.get(run.messageId ?? '') ?? null;
      return message || run.kind === 'repair' ? [{ run, message }] : [];
    })
    .sort((a, b) => b.run.createdAt.localeCompare(a.run.createdAt));
}
