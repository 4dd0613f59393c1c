import { describe } from 'vitest';
import type { Bench } from '../test-support.ts';
import { endCases } from './conformance-ends.ts';
import { isolationCases } from './conformance-isolation.ts';
import { limitCases } from './conformance-limits.ts';
import { streamCases } from './conformance-streams.ts';
import { subjectOf } from './conformance-subject.ts';

/** What the rest of the runner relies on, whichever driver makes the sandboxes. */
export function conformance(name: string, bench: Bench | undefined): void {
  const subject = bench && subjectOf(bench);
  describe.skipIf(!subject)(`a sandbox of ${name}`, () => {
    if (!subject) return;
    isolationCases(subject);
    limitCases(subject);
    streamCases(subject);
    endCases(subject);
  });
}
