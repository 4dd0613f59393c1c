/** What the work on runs asks of applies: what a repair starts from, and what becomes of its end. */
import type { Repairs } from '../../runs/index.ts';
import { attempt } from './attempt.ts';
import { ended } from './ended.ts';

export const repairs: Repairs = { attempt, ended };
