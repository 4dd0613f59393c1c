/** The part of a repair that applies do; worker.ts hands it to runs, which applies import. */
import type { Repairs } from '../../runs/index.ts';
import { prepareAttempt } from './prepare-attempt.ts';
import { recordResult } from './record-result.ts';

export const repairs: Repairs = { attempt: prepareAttempt, ended: recordResult };
