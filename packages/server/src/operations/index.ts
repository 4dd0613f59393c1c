export { outsideWrite } from './outside-write.ts';
export type { Effect, Effects, Mark } from './outside.ts';
export { settle, writeClaimed, writeOnce } from './receipts.ts';
export type { Claim, Receipt, WriteResult } from './write-request.ts';
