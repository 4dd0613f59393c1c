export { settle, writeClaimed, writeOnce } from './receipts.ts';
export type { Claim, Receipt, WriteResult } from './receipts.ts';
