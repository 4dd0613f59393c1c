import type { Static, TSchema } from 'typebox';
import type { EventScope, Tx } from '../db/transaction.ts';
import { claimedWrite } from '../http/operation.ts';
import type { Call, Documentation, Operation } from '../http/operation.ts';
import { actOutside } from './outside.ts';
import type { Effect } from './outside.ts';

/**
 * A write with an effect outside of this service. `prepare` says what is done to what, before the claim;
 * `onClaim` looks at our own state in the claim's transaction and may refuse. The effect also has to be
 * named in worker.ts, under the operation's name: a worker settles what a process left behind.
 */
export const outsideWrite = <BS extends TSchema, T extends Record<string, unknown>, F>(
  definition: Omit<Documentation, 'body'> & {
    body: BS;
    prepare: (call: Call<Record<string, never>, Static<BS>>) => Promise<{
      target: T;
      scope?: EventScope;
      onClaim?: (tx: Tx, operationId: string) => Promise<EventScope | undefined>;
    }>;
    effect: Effect<T, F>;
  },
): Operation => {
  const { prepare, effect, ...documentation } = definition;
  return claimedWrite<T, undefined, BS>({
    ...documentation,
    query: undefined,
    mode: 'outside',
    publishesPending: true,
    async prepare(call) {
      const { target, ...rest } = await prepare(call as Call<Record<string, never>, Static<BS>>);
      return { ...rest, prepared: target, look: { name: definition.name, target } };
    },
    handle: (call, claim, target) => actOutside(call.ctx, effect, target, claim),
  });
};
