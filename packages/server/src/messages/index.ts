export { acceptMessage } from './accept-message.ts';
export { routes } from './routes.ts';
export { ClientMessageId, Content, Message, messageView, ModelId } from './schemas.ts';
