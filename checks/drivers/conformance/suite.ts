import { describe } from 'vitest';
import type { Bench } from '../../../packages/runner/src/runner.fixture.ts';
import { bindCases } from './binds.ts';
import { endCases } from './ends.ts';
import { isolationCases } from './isolation.ts';
import { limitCases } from './limits.ts';
import { streamCases } from './streams.ts';
import { subjectOf } from './subject.ts';
import { systemCallCases } from './system-calls.ts';

/** Tests what the rest of the runner relies on, whichever driver makes the sandboxes. */
export function conforms(name: string, bench: Bench | undefined): void {
  const subject = bench && subjectOf(bench);
  describe.skipIf(!subject)(`a sandbox of ${name}`, () => {
    if (!subject) return;
    isolationCases(subject);
    systemCallCases(subject);
    limitCases(subject);
    streamCases(subject);
    bindCases(subject);
    endCases(subject);
  });
}
