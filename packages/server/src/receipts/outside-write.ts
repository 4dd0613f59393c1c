import type { Static, TSchema } from 'typebox';
import type { EventScope, Tx } from '../db/transaction.ts';
import { claimedWrite } from '../http/operation.ts';
import type { Call, Documentation, Operation } from '../http/operation.ts';
import { actOutside } from './outside.ts';
import type { Effect } from './outside.ts';

/**
 * A write with an effect outside of this service. `claim` looks at our own state in the claim's transaction:
 * it refuses, or says what is done to what. The effect also has to be named in worker.ts, under the
 * operation's name: a worker settles what a process left behind.
 */
export const outsideWrite = <BS extends TSchema, T extends Record<string, unknown>, F>(
  definition: Omit<Documentation, 'body'> & {
    body: BS;
    claim: (
      tx: Tx,
      call: Call<Record<string, never>, Static<BS>>,
      operationId: string,
    ) => Promise<{ target: T; scope?: EventScope }>;
    effect: Effect<T, F>;
  },
): Operation => {
  const { claim: claimFor, effect, ...documentation } = definition;
  return claimedWrite<T, undefined, BS>({
    ...documentation,
    query: undefined,
    mode: 'outside',
    publishesPending: true,
    async prepare(call) {
      // Known when the claim is stored, not before.
      const target = {} as T;
      return {
        prepared: target,
        look: { name: definition.name, target },
        async onClaim(tx, operationId) {
          const claimed = await claimFor(tx, call as Call<Record<string, never>, Static<BS>>, operationId);
          Object.assign(target, claimed.target);
          return claimed.scope;
        },
      };
    },
    handle: (call, claim, target) => actOutside(call.ctx, effect, target, claim),
  });
};
