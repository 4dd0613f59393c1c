import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bench, script } from './headrace.fixture.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());

const userTexts = (): string =>
  JSON.stringify(
    (bench.model.calls.at(-1)!.body.messages as { role: string }[]).filter(({ role }) => role === 'user'),
  );

describe('a message during a turn', () => {
  it('is refused before there is a turn and when it is over', async () => {
    const agent = await (await bench.start()).open();
    expect(await agent.steer('early', 'Too early.')).toEqual({ taken: false });
    await agent.prompt('Hello');
    expect(await agent.steer('late', 'Too late.')).toEqual({ taken: false });
    // A refused message may be offered to a later turn.
    const turn = agent.prompt(
      script([{ call: [{ tool: 'bash', input: { command: 'sleep 0.3' } }] }, { say: 'Done.' }]),
    );
    await agent.until(() => agent.calls.length === 1, 'the call');
    expect(await agent.steer('late', 'In time.')).toEqual({ taken: true });
    await turn;
    expect(userTexts()).toContain('In time.');
    expect(userTexts()).not.toContain('Too');
  });

  it('enters before the next step while a tool runs, once for each id and in order', async () => {
    const agent = await (await bench.start()).open();
    const turn = agent.prompt(
      script([{ call: [{ tool: 'bash', input: { command: 'sleep 0.4' } }] }, { say: 'Done.' }]),
    );
    await agent.until(
      () => agent.calls.some(({ statuses }) => statuses.includes('in_progress')),
      'the command',
    );
    const answers = await Promise.all([
      agent.steer('a', 'First steer.'),
      agent.steer('b', 'Second steer.'),
      agent.steer('a', 'First steer.'),
    ]);
    expect(answers).toEqual([{ taken: true }, { taken: true }, { taken: true }]);
    await turn;
    expect(userTexts().split('First steer.')).toHaveLength(2);
    expect(userTexts().indexOf('First steer.')).toBeLessThan(userTexts().indexOf('Second steer.'));
    expect(await agent.steer('a', 'First steer.')).toEqual({ taken: true });
  });

  it('makes the turn go on when it comes while the last text is written', async () => {
    const agent = await (await bench.start()).open();
    const turn = agent.prompt(script([{ chunks: 20, delayMs: 20 }]));
    await agent.until(() => agent.reply !== '', 'the first words');
    expect(await agent.steer('c', 'One thing more.')).toEqual({ taken: true });
    await turn;
    expect(userTexts()).toContain('One thing more.');
    expect(agent.reply).toMatch(/\n\nAll done\.$/);
  });

  it('is refused when the model fails before it is taken', async () => {
    const agent = await (await bench.start()).open();
    const turn = agent
      .prompt(
        script([
          { call: [{ tool: 'bash', input: { command: 'true' } }] },
          { cut: true, chunks: 30, delayMs: 20 },
        ]),
      )
      .catch((error: Error) => error.message);
    await agent.until(() => agent.reply !== '', 'the first words');
    expect(await agent.steer('d', 'Lost?')).toEqual({ taken: false });
    expect(await turn).toContain('broke off');
  });
});

it('takes or refuses each of many messages, never both and never neither', async () => {
  const agent = await (await bench.start()).open();
  const taken: string[] = [];
  for (let round = 0; round < 12; round++) {
    const turn = agent.prompt(script([{ chunks: 3, delayMs: 3 }], `Round ${round}.`));
    const offers = Array.from({ length: 5 }, async (_, i) => {
      // The answers of other requests spread the offers over the turn and its end.
      for (let wait = 0; wait < i * 4; wait++) await agent.request('session/none', {}).catch(() => undefined);
      const id = `r${round}-${i}`;
      if ((await agent.steer(id, `<${id}>`)).taken) taken.push(id);
    });
    await Promise.all([turn, ...offers]);
  }
  await agent.prompt('The end.');
  const texts = userTexts();
  const entered = [...texts.matchAll(/<(r\d+-\d)>/g)].map((found) => found[1]!);
  expect(entered.toSorted()).toEqual(taken.toSorted());
  expect(taken.length).toBeGreaterThan(0);
});
