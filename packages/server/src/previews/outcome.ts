import { START_SECONDS } from './schemas.ts';
import type { PreviewError } from './schemas.ts';

/**
 * How a job's work on a preview ends. `left`: this worker stops, another goes on. `moves`: its runner drains, so it starts
 * again elsewhere.
 */
export type Outcome =
  | { kind: 'over' }
  | { kind: 'failed'; error: PreviewError }
  | { kind: 'left' }
  | { kind: 'moves' };

export const LOST: PreviewError = {
  code: 'sandbox_lost',
  message: 'The sandbox was lost. Create a new preview.',
};
export const LATE: PreviewError = {
  code: 'start_timed_out',
  message: `Nothing listened on the port within ${START_SECONDS} seconds. Check the command and the port.`,
};
export const SETUP_FAILED: PreviewError = {
  code: 'setup_failed',
  message: "The app's setup failed. Read its logs, mend it, and create a new preview.",
};
export const LAYERS_LOST: PreviewError = {
  code: 'setup_failed',
  message:
    "The runner does not keep what the app's setup makes. Create a new preview later, or ask the operator to give it more room.",
};
