import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bench, limited, script, type Agent } from './headrace.fixture.ts';

let bench: Bench;
let agent: Agent;
beforeAll(async () => {
  bench = await Bench.open();
  agent = await (await bench.start({ env: { SHOWN: 'yes' } })).open();
});
afterAll(() => bench.close());

const bash = async (command: string, more: object = {}) =>
  (await made({ tool: 'bash', input: { command, ...more } }))[0]!;
async function made(...call: object[]) {
  const before = agent.calls.length;
  await agent.prompt(script([{ call }]));
  return agent.calls.slice(before);
}

/** Processes whose command line contains this word. */
function processesWith(word: string): string[] {
  return readdirSync('/proc').filter(
    (pid) =>
      /^\d+$/.test(pid) &&
      (() => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word);
        } catch {
          return false;
        }
      })(),
  );
}
const gone = (word: string) =>
  limited(
    (async () => {
      while (processesWith(word).length > 0)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
    })(),
    `the end of ${word}`,
  );

describe('bash', () => {
  it('answers with both streams in order, and with the exit code where it is not 0', async () => {
    expect(await bash('echo out; echo err >&2; echo end; exit 3')).toMatchObject({
      output: 'out\nerr\nend\n[exit code 3]',
      statuses: ['pending', 'in_progress', 'failed'],
    });
    expect(await bash('true')).toMatchObject({
      output: '[no output]',
      statuses: ['pending', 'in_progress', 'completed'],
    });
    expect((await bash('kill -9 $$')).output).toBe('[ended by SIGKILL]');
  });

  it('shows a command nothing that is meant for the agent alone', async () => {
    expect((await bash('env')).output).toMatch(/^SHOWN=yes$/m);
    expect((await bash('env; cat /dev/stdin')).output).not.toContain('HEADRACE');
  });

  it('kills a command that takes too long, with its children, also those in a session of their own', async () => {
    const started = performance.now();
    const call = await bash(
      'echo begun; (sleep 31.4159 &); sh -c "sleep 31.4159" & setsid sleep 31.4159 & sleep 31.4159',
      { timeout_seconds: 1 },
    );
    expect(call).toMatchObject({
      output: 'begun\n[killed after 1 s, with what it started]',
      statuses: ['pending', 'in_progress', 'failed'],
    });
    expect(performance.now() - started).toBeLessThan(10_000);
    await gone('31.4159');
  });

  it('does not wait for what a command leaves behind', async () => {
    const started = performance.now();
    expect((await bash('sleep 27.182 & echo done')).output).toBe('done\n');
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(processesWith('27.182')).not.toEqual([]);
    await bash('pkill -f 27.18[2]');
  });

  it('keeps the beginning and the end of a flood', async () => {
    const call = await bash('echo first; head -c 100000000 /dev/zero | tr "\\0" x; echo; echo last');
    expect(call.output.length).toBeLessThan(64 * 1024);
    expect(call.output).toMatch(/^first\nx+\n\[… 999\d+ bytes left out …\]\nx+\nlast\n$/);
    expect(call.isCut).toBe(true);
  });

  it('takes a command longer than an argument may be', async () => {
    expect((await bash(`: ${'x'.repeat(200_000)}\necho long`)).output).toBe('long\n');
  });
});

describe('a command in the background', () => {
  it('outlives its call, and can be read and ended', async () => {
    await bash('mkfifo pipe');
    const [start] = await made({
      tool: 'bash',
      input: {
        command: 'echo up; while read line; do echo "got $line"; done < pipe; sleep 16.18',
        background: true,
      },
    });
    const id = /bg-\d+/.exec(start!.output)![0];
    const outputOf = async (wait = 5) =>
      (await made({ tool: 'bash_output', input: { id, wait_seconds: wait } }))[0]!.output;
    expect(await outputOf()).toBe('up\n[it runs]');
    expect(await outputOf(0)).toBe('[it runs]');
    await bash('echo hello > pipe');
    expect(await outputOf()).toBe('got hello\n[it runs]');
    const [kill] = await made({ tool: 'bash_kill', input: { id } });
    expect(kill!.output).toBe(`Ended ${id}.`);
    expect(await outputOf()).toBe('[ended by SIGKILL]');
    expect((await made({ tool: 'bash_kill', input: { id } }))[0]!.output).toBe(
      `${id} has ended already: ended by SIGKILL.`,
    );
    expect((await made({ tool: 'bash_output', input: { id: 'bg-77' } }))[0]!.output).toContain(
      'There is no bg-77',
    );
    await gone('16.18');
  });

  it('forgets what nobody read, but the last of it', async () => {
    const [start] = await made({
      tool: 'bash',
      input: { command: 'head -c 3000000 /dev/zero | tr "\\0" y; echo end; touch flooded', background: true },
    });
    const id = /bg-\d+/.exec(start!.output)![0];
    await bash('while ! [ -e flooded ]; do :; done');
    const [read] = await made({ tool: 'bash_output', input: { id, wait_seconds: 5 } });
    expect(read!.output).toMatch(/^\[\d+ bytes before were forgotten\]\ny+end\n/);
    expect(read!.output.length).toBeLessThan(40_000);
  });

  it.each(['SIGTERM', 'end of input'])('ends with the agent, by %s', async (how) => {
    const own = await (await bench.start()).open();
    const word = how === 'SIGTERM' ? '14.1421' : '17.3205';
    await own.prompt(
      script([
        {
          call: [
            {
              tool: 'bash',
              input: { command: `touch ${word}; setsid sleep ${word} & sleep ${word}`, background: true },
            },
          ],
        },
        { call: [{ tool: 'bash', input: { command: `while ! [ -e ${word} ]; do :; done` } }] },
      ]),
    );
    expect(existsSync(join(bench.root, word))).toBe(true);
    if (how === 'SIGTERM') expect(await own.kill('SIGTERM')).toBe(143);
    else own.child.stdin!.end();
    await gone(`sleep\0${word}`);
  });
});
