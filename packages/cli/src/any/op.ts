/** `headrace op`: what became of a write. */
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault } from '../core/fault.ts';
import { shown } from '../terminal/escape.ts';
import { ago } from '../terminal/times.ts';
import type { Color } from '../terminal/style.ts';

const ID = /^op_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const COLORS: Readonly<Record<string, Color>> = { succeeded: 'green', failed: 'red', uncertain: 'yellow' };

export async function showOperation(cli: Cli, text: string): Promise<void> {
  const options = { signal: cli.signal };
  const { operations } = cli.client;
  const operation = ID.test(text)
    ? await operations.get(text, options)
    : await operations.find(text, options);
  if (!operation)
    throw new Fault(EXIT.notFound, `There is no receipt of a write with the key ${JSON.stringify(text)}.`, {
      hint: 'No such write was accepted, or its receipt has expired.',
    });
  cli.show({ operation }, () => {
    const { id, idempotencyKey, method, path, status, responseStatus, response, createdAt, settledAt } =
      operation;
    return [
      cli.details([
        ['Receipt', id],
        ['Key', idempotencyKey],
        ['Write', `${method} ${path}`],
        ['Status', status, COLORS[status]],
        ['HTTP', responseStatus],
        ['Created', ago(createdAt)],
        ['Settled', ago(settledAt)],
      ]),
      ...(response === null ? [] : ['', shown(JSON.stringify(response, null, 2))]),
    ].join('\n');
  });
}
