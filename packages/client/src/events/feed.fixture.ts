/** Frames as the service sends them, for tests with a loopback server. */
import type { ServerResponse } from 'node:http';

export const event = (n: number, type = 'run.running', rest: object = {}) => ({
  id: `evt_${n}`,
  type,
  appId: 'prj_1',
  threadId: 'thr_1',
  runId: 'run_1',
  cursor: `c${n}`,
  data: {},
  ...rest,
});

export const frame = (type: string, data: unknown, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;

export const eventFrame = (n: number, type?: string, rest?: object) =>
  frame(event(n, type).type, event(n, type, rest), `c${n}`);

export const draftFrame = (messageId: string, revision: number, runId = 'run_1') =>
  frame('draft', { threadId: 'thr_1', messageId, runId, revision, content: `${messageId} ${revision}` });

export const draftRemovedFrame = (messageId: string) =>
  frame('draft.removed', { threadId: 'thr_1', messageId });

export function sendFrames(response: ServerResponse, ...frames: string[]): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.write(frames.join(''));
}
