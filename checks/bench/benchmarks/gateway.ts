/**
 * What the model gateway adds to a call: the same call of a model server on this machine, made directly and
 * through a worker's gateway, as the runner joins an agent to it. Through the gateway each call is
 * authenticated, reserved and settled in the database.
 */
import { readdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { runToken } from '../../../packages/server/src/runs/index.ts';
import { runnerSocket } from '../../../packages/server/src/runner/link.ts';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import type { Benchmark } from '../lib/benchmark.ts';
import { makeFiles } from '../../harness/files.ts';
import { startModels, startServiceWithModels } from '../lib/model-server.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';

const SECRET = 'a secret of the benchmark, 32 characters';
const CHUNKS = 2_000;
const WAIT_MS = 30_000;

/** One call to its last byte, in ms. */
type Call = (steps: unknown[]) => Promise<{ total: number; first: number }>;

export const gatewayBenchmark: Benchmark = {
  name: 'gateway',
  title: 'Model gateway: a call, and a stream of 2,000 chunks, with and without it',
  async run(setup) {
    const models = await startModels(setup);
    const service = await startServiceWithModels(setup, models, { env: { HEADRACE_SECRET_KEY: SECRET } });
    const { app, sourceId } = await newAppWith(service, makeFiles(1, 1024));
    const thread = await newReadyThread(service, app, sourceId);
    // Somebody whose calls these may be: a run that is active, because its model hangs.
    const { body } = await service.call('POST', `${thread}/messages`, {
      content: message([{ hang: true }]),
      modelId: 'bench/model',
    });
    const runId = body.run.id as string;
    for (
      const deadline = Date.now() + WAIT_MS;
      (await service.call('GET', thread)).body.thread.runStatus !== 'running';
    )
      if (Date.now() > deadline) throw new Error('The run did not start.');
    const direct = caller(new Agent({ keepAlive: true, maxSockets: 1 }), new URL(`${models}/messages`), '');
    const through = caller(
      joined(gatewayOf(service), runId),
      new URL('http://gateway/bench/v1/messages'),
      runToken(Buffer.from(SECRET), runId),
    );

    const pairs = async (count: number, steps: unknown[]) => {
      const [plain, relayed]: [Awaited<ReturnType<Call>>[], Awaited<ReturnType<Call>>[]] = [[], []];
      for (let i = -3; i < count; i++) {
        const [a, b] = [await direct(steps), await through(steps)];
        if (i >= 0) {
          plain.push(a);
          relayed.push(b);
        }
      }
      return { plain, relayed };
    };
    const calls = await pairs(setup.quick ? 10 : 300, [{ say: 'ok' }]);
    const streams = await pairs(setup.quick ? 3 : 30, [{ chunks: CHUNKS }]);
    const of = (samples: { total: number; first: number }[], part: 'total' | 'first') =>
      summarize(samples.map((sample) => sample[part]));
    const overhead = summarize(calls.relayed.map(({ total }, i) => total - calls.plain[i]!.total));
    await service.call('POST', `${thread}/stop`, {});
    return {
      rows: [
        { what: 'call, direct', unit: 'ms', figures: of(calls.plain, 'total') },
        { what: 'call, through the gateway', unit: 'ms', figures: of(calls.relayed, 'total') },
        { what: 'difference of neighbouring calls', unit: 'ms', figures: overhead },
        {
          what: `stream of ${CHUNKS} chunks, direct: to the first byte`,
          unit: 'ms',
          figures: of(streams.plain, 'first'),
        },
        {
          what: `stream of ${CHUNKS} chunks, direct: to the last`,
          unit: 'ms',
          figures: of(streams.plain, 'total'),
        },
        {
          what: `stream of ${CHUNKS} chunks, gateway: to the first byte`,
          unit: 'ms',
          figures: of(streams.relayed, 'first'),
        },
        {
          what: `stream of ${CHUNKS} chunks, gateway: to the last`,
          unit: 'ms',
          figures: of(streams.relayed, 'total'),
        },
      ],
      aims: [{ what: 'added to a call, p50', bound: 'most', limit: 5, value: overhead.median, unit: 'ms' }],
      notes: [
        'Streaming calls on the Anthropic wire, one at a time, each way on its own keep-alive connection; direct and through the gateway in turns. The model server is a separate process and answers immediately.',
      ],
    };
  },
};

const message = (steps: unknown[]) => `\`\`\`model\n${JSON.stringify(steps)}\n\`\`\``;

/** Workers' gateways listen next to the runner's socket, each named after its process. */
function gatewayOf({ dataDir, pid }: Service): string {
  const folder = dirname(runnerSocket(dataDir));
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.gateway') && name.includes(`-${pid}-`))!,
  );
}

/** Connections as the runner makes them: with a line that names the task. */
function joined(socketPath: string, runId: string): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => {
    const socket = connect(socketPath);
    socket.write(`task ${runId}\n`);
    return socket;
  };
  return agent;
}

function caller(agent: Agent, url: URL, token: string): Call {
  return (steps) =>
    new Promise((resolve, reject) => {
      const from = performance.now();
      const req = request(
        url,
        {
          agent,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'anthropic-version': '2023-06-01',
            'x-api-key': token,
          },
        },
        (res) => {
          let first = 0;
          if (res.statusCode !== 200) return reject(new Error(`a model call was answered ${res.statusCode}`));
          res
            .on('data', () => {
              first ||= performance.now() - from;
            })
            .on('end', () => resolve({ total: performance.now() - from, first }))
            .on('error', reject);
        },
      );
      req.on('error', reject).end(
        JSON.stringify({
          model: 'model',
          max_tokens: 8192,
          stream: true,
          messages: [{ role: 'user', content: message(steps) }],
        }),
      );
    });
}
