import type { ModelMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { ModelFailure } from '../model/failure.ts';
import type { Ask, Question } from '../model/model.ts';
import { makeRoom } from './compact.ts';
import { Meter, sizeOfAll } from './measure.ts';

const asked: Question[] = [];
const summarising: Ask = async (question) => {
  asked.push(question);
  return { messages: [], text: 'what was done', calls: [], finish: 'stop', tokens: undefined };
};

const step = (i: number, size: number): ModelMessage[] => [
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'thinking '.repeat(30) },
      { type: 'tool-call', toolCallId: `a${i}`, toolName: 'read', input: { path: 'x' } },
      { type: 'tool-call', toolCallId: `b${i}`, toolName: 'read', input: { path: 'y' } },
    ],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: `a${i}`,
        toolName: 'read',
        output: { type: 'text', value: 'x'.repeat(size) },
      },
      {
        type: 'tool-result',
        toolCallId: `b${i}`,
        toolName: 'read',
        output: { type: 'text', value: 'y'.repeat(size) },
      },
    ],
  },
];
const user = (content: string): ModelMessage => ({ role: 'user', content });
const room = (messages: ModelMessage[], contextTokens: number, ask = summarising, isForced = false) =>
  makeRoom({ messages, meter: new Meter(), overhead: 1000, contextTokens, ask, isForced });

function expectWhole(messages: ModelMessage[]): void {
  messages.forEach((message, i) => {
    const before = messages[i - 1];
    const calls =
      before?.role === 'assistant' && typeof before.content !== 'string'
        ? before.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
        : [];
    const results =
      message.role === 'tool'
        ? message.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))
        : [];
    expect(results).toEqual(calls);
  });
}

describe('makeRoom', () => {
  it('leaves a conversation alone that is not full', async () => {
    const messages = [user('Do it.'), ...step(1, 1000)];
    expect(await room(messages, 10_000)).toEqual({ messages, note: undefined });
  });

  it('never parts calls and results, and keeps the request and the newest, whatever the sizes', async () => {
    for (let size = 10; size < 3000; size += 97)
      for (const count of [1, 3, 12, 40]) {
        const messages = [
          user('An older question.'),
          { role: 'assistant', content: 'An answer.' } as ModelMessage,
          user('Build the castle.'),
          ...Array.from({ length: count }, (_, i) => step(i, size)).flat(),
        ];
        const { messages: left, note } = await room(messages, 4000);
        expectWhole(left);
        expect(JSON.stringify(left)).toContain('Build the castle.');
        expect(left.at(-1)!.role).toBe('tool');
        if (note !== undefined && count > 3) expect(sizeOfAll(left)).toBeLessThan(sizeOfAll(messages));
      }
  });

  it('keeps the request through several summaries', async () => {
    let messages: ModelMessage[] = [
      user('Build the castle.'),
      ...Array.from({ length: 40 }, (_, i) => step(i, 400)).flat(),
    ];
    for (let round = 0; round < 3; round++)
      messages = [
        ...(await room(messages, 4000)).messages,
        ...Array.from({ length: 40 }, (_, i) => step(100 * round + i, 400)).flat(),
      ];
    const first = messages[0]!.content as string;
    expect(first.split('Build the castle.')).toHaveLength(2);
    expect(first).toContain('what was done');
  });

  it('gives the summariser no more than fits, and does without it when even that is refused', async () => {
    const messages = [
      user('Build the castle.'),
      ...Array.from({ length: 200 }, (_, i) => step(i, 900)).flat(),
    ];
    asked.length = 0;
    await room(messages, 4000);
    expect((asked[0]!.messages[0]!.content as string).length).toBeLessThan(4000 * 4 * 0.5);
    let refusals = 0;
    const refusing: Ask = async () => {
      refusals++;
      throw new ModelFailure('too long', true);
    };
    const { messages: left } = await room(messages, 4000, refusing);
    expect(refusals).toBe(2);
    expect(JSON.stringify(left)).toContain('Build the castle.');
    await expect(
      room(messages, 4000, async () => {
        throw new ModelFailure('402');
      }),
    ).rejects.toThrow('402');
  });

  it('makes some when it is forced, though it counts that there is enough', async () => {
    const messages = [user('Do it.'), ...Array.from({ length: 10 }, (_, i) => step(i, 3000)).flat()];
    const { messages: left } = await room(messages, 1_000_000, summarising, true);
    expect(sizeOfAll(left)).toBeLessThan(sizeOfAll(messages) / 2);
    expectWhole(left);
  });
});
