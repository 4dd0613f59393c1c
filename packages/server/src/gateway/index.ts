export { startGateway } from './gateway.ts';
export { spendRefusal } from './spend-refusal.ts';
export { runToken } from './token.ts';
