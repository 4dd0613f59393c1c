/** Answers with a secret that their replays repeat: sealed at rest, bound to the key of their receipt. */
import type { Context } from '../context.ts';
import { seal, unseal } from '../sealing.ts';
import type { WriteRequest } from '../http/write-request.ts';

export const PURPOSE = 'headrace receipts';
const placeOf = ({ principal, key }: WriteRequest) => `${principal.orgId} ${principal.actorId} ${key}`;

export const sealAnswer = (ctx: Pick<Context, 'secretKey'>, request: WriteRequest, answer: string): Buffer =>
  seal(ctx.secretKey, PURPOSE, placeOf(request), answer);
export const unsealAnswer = (
  ctx: Pick<Context, 'secretKey'>,
  request: WriteRequest,
  sealed: Buffer,
): string => unseal(ctx.secretKey, PURPOSE, placeOf(request), sealed);
