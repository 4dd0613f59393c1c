/**
 * `npm run test:image`: builds both images of deploy/Dockerfile and starts them, with Podman and a base that debootstrap
 * makes of Debian's packages; at last deploy/compose.yaml in both of its forms, with Debian's PostgreSQL and HAProxy under
 * the names of its images. As root; needs the mirror of Debian and the npm registry. A first run takes about a quarter of
 * an hour on two busy cores, later ones six minutes. Prints one line per check, passed or FAILED, and exits with 1 if one
 * fails. Containers share the machine's network, but for those of Compose, and have no control groups of their own, so
 * that it runs inside of sandboxes, too.
 *
 *   --clean   removes the cache afterwards (HEADRACE_IMAGE_CACHE, /var/cache/headrace-image)
 *   --help
 */
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { helpOf } from '../../harness/help.ts';
import { installPrograms } from '../programs.ts';
import { check } from '../report.ts';
import { makeBase, PROGRAMS } from './base.ts';
import { buildImages, sizeOf } from './build.ts';
import { COMPOSE_PROGRAMS, makeCompose, startCompose } from './compose.ts';
import { roleEach } from './machines.ts';
import { CACHE } from './podman.ts';
import { oneContainer, serviceAlone } from './scenarios.ts';

const { values: options } = parseArgs({
  options: {
    clean: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) console.log(helpOf(import.meta.filename));
else await main();

async function main(): Promise<void> {
  installPrograms({ ...PROGRAMS, ...COMPOSE_PROGRAMS });
  await check('base', makeBase);
  await check('build', buildImages);
  await check('size', sizeOf);
  await check('service', serviceAlone);
  await check('one container', oneContainer);
  await check('a role each', roleEach);
  if (await check('compose parts', makeCompose)) startCompose();
  if (options.clean) rmSync(CACHE, { recursive: true, force: true });
}
