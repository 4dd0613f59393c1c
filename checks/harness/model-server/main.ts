/** `node checks/harness/model-server/main.ts --port N [--key K]`: serves until it is stopped. */
import { parseArgs } from 'node:util';
import { startModelServer } from './server.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '4010' }, key: { type: 'string' } },
});
const server = await startModelServer({
  port: Number(values.port),
  ...(values.key !== undefined && { requiredKey: values.key }),
});
console.log(`model server listening on ${server.url}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void server.close();
  });
