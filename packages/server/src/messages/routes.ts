import { threadRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { getAttachment } from './get-attachment.ts';
import { listMessages } from './list-messages.ts';
import { sendMessage } from './send-message.ts';

export const routes: Route[] = [
  ...threadRoute('POST', '/threads/:threadId/messages', sendMessage),
  ...threadRoute('GET', '/threads/:threadId/messages', listMessages),
  ...threadRoute('GET', '/threads/:threadId/messages/:messageId/attachments/:index', getAttachment),
];
