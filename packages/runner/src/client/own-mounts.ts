/**
 * As root the runner gets its own mount namespace, where that is allowed: its mounts vanish with it, even
 * when it is killed.
 */
export const IN_OWN_MOUNTS =
  'unshare --mount --propagation slave true 2>/dev/null && exec unshare --mount --propagation slave ' +
  '"$@"; exec "$@"';

/** Nothing of the service's environment but where compiled modules are kept: two thirds of a start. */
export const runnerEnv = (): NodeJS.ProcessEnv => ({
  PATH: '/usr/local/bin:/usr/bin:/bin',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
});
