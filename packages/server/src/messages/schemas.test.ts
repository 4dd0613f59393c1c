import Type from 'typebox';
import { expect, test } from 'vitest';
import { compile } from '../http/validate.ts';
import { Content, Message, messageView } from './schemas.ts';

test("an agent's reply may be longer than what a caller may send", () => {
  const content = 'x'.repeat(100_001);
  const shown = messageView({
    org_id: 'org_1',
    id: 'msg_1',
    thread_id: 'thr_1',
    run_id: 'run_1',
    role: 'assistant',
    content,
    sequence: 2,
    client_message_id: null,
    attachment_sizes: null,
    created_at: new Date(),
  });
  expect(compile(Message, 'body')(shown)).toEqual([]);
  expect(compile(Type.Object({ content: Content }), 'body')({ content })).toMatchObject([
    { path: '/content' },
  ]);
});
