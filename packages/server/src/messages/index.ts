export { acceptMessage } from './accept-message.ts';
export { routes } from './routes.ts';
export { ClientMessageId, Content, Message, MESSAGE_COLUMNS, messageView, ModelId } from './schemas.ts';
