/** What commands print: how it is stored, read and shown, for builds and setups. */
export { answerLogs, logsResponses } from './answer-logs.ts';
export type { LogSize, Piece } from './command-log.ts';
export { findLogPieces, readLog } from './read-log.ts';
export { LOG_BYTES, LOG_PAGE_BYTES, LogsQuery } from './schemas.ts';
export { sendFiles, storeOutput } from './store-output.ts';
export type { Output } from './store-output.ts';
