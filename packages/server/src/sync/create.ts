import type { Effect } from '../receipts/outside.ts';
import { adopting } from './adopt-pull-request.ts';
import type { Adopting } from './adopt-pull-request.ts';
import { opening } from './open-pull-request.ts';
import type { Opened, Opening } from './open-pull-request.ts';

/** A thread gets a pull request: a new one, or one that is there. */
export type Creating = Opening | Adopting;

const isAdopting = (target: Creating): target is Adopting => 'number' in target;

export const creating: Effect<Creating, Opened> = {
  act: (ctx, target, mark) =>
    isAdopting(target) ? adopting.act(ctx, target, mark) : opening.act(ctx, target, mark),
  look: (ctx, target, mark) =>
    isAdopting(target) ? adopting.look(ctx, target, mark) : opening.look(ctx, target, mark),
  record: (tx, target, opened) =>
    isAdopting(target) ? adopting.record(tx, target, opened) : opening.record(tx, target, opened),
};
