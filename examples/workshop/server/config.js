import path from 'node:path';

/** Reads the environment; the only file that does. Throws with every wrong variable named. */
export function readConfig(env, root) {
  const wrong = [];
  const port = Number(env.WORKSHOP_PORT ?? 8080);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) wrong.push('WORKSHOP_PORT must be a port number');
  const demoPassword = env.WORKSHOP_DEMO_PASSWORD ?? 'borrow-a-drill';
  if (demoPassword.length < 8) wrong.push('WORKSHOP_DEMO_PASSWORD must have at least 8 characters');
  if (wrong.length > 0) throw new Error(wrong.join('; '));
  return {
    port,
    host: env.WORKSHOP_HOST ?? '127.0.0.1',
    demoPassword,
    dataFile: path.resolve(root, env.WORKSHOP_DATA ?? 'var/library.json'),
  };
}
