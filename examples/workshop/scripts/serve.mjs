import path from 'node:path';
import { openApp } from '../server/app.js';
import { readConfig } from '../server/config.js';
import { createServer } from '../server/http/server.js';
import { build } from './bundle/build.mjs';

const root = path.resolve(import.meta.dirname, '..');
const config = readConfig(process.env, root);

await build(root, path.join(root, 'dist'));
const app = await openApp(config);
const server = createServer(app.ctx, { root: path.join(root, 'dist') });
server.listen(config.port, config.host, () => {
  console.log(`Workshop at http://${config.host}:${server.address().port}`);
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close(async () => {
      await app.settled();
      process.exit(0);
    });
    server.closeAllConnections();
  });
}
