export { acceptMessage } from './accept-message.ts';
export { recordSystemMessage } from './record-system-message.ts';
export { ClientMessageId, Content, Message, MESSAGE_COLUMNS, messageView, ModelId } from './schemas.ts';
export type { MessageColumns } from './schemas.ts';
export { copyTranscript, newestOf, purgeTranscripts } from './transcript.ts';
export type { TranscriptEnd } from './transcript.ts';
export {
  assignRun,
  insertReply,
  messagesToDeliver,
  moveToRun,
  purgeMessages,
  returnUntaken,
  takeMessage,
} from './store.ts';
