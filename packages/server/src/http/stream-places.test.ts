import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { expect, test } from 'vitest';
import { StreamPlaces } from './stream-places.ts';

const replyTo = () => ({ raw: new ServerResponse(new IncomingMessage(new Socket())) }) as FastifyReply;

test('a place is given back when its answer is over; a caller that has gone takes none', () => {
  const places = new StreamPlaces(1);
  const gone = replyTo();
  gone.raw.destroy();
  places.take('org_a', gone);
  const first = replyTo();
  places.take('org_a', first);
  expect(() => places.take('org_a', replyTo())).toThrow('1 event streams and long polls open');
  places.take('org_b', replyTo());
  first.raw.emit('close');
  places.take('org_a', replyTo());
});
