/** The pages of pull requests of threads. */
import type { Visit } from '../../browser.ts';
import type { Site, WholeGround } from '../../ground.ts';
import { none } from '../../scene.ts';
import type { Area } from '../area.ts';
import * as made from './ground.ts';
import type { Opened } from './ground.ts';
import { panelOf, WRITES } from './writes.ts';

/** What they show. */
export async function reviewsGround({ client }: Site) {
  const project = await made.newGarden(client, 'Garden');
  const [failing, blocked, ready, diverged, merged, passed, fresh] = await Promise.all([
    made.failing(client, project),
    made.blocked(client, project),
    made.ready(client, project),
    made.diverged(client, project),
    made.merged(client, project),
    made.passed(client),
    made.changedThread(client, project, { title: 'Rake the leaves' }),
  ]);
  return { project, failing, blocked, ready, diverged, merged, passed, fresh };
}

type Ground = Awaited<ReturnType<typeof reviewsGround>>;

const of = ({ areas }: WholeGround): Ground => areas.reviews;
const scene = (name: string, pick: (ground: Ground) => Opened) => ({
  name: `pull-request-${name}`,
  path: (ground: WholeGround) => panelOf(pick(of(ground))),
});
const press =
  (name: string) =>
  async ({ page }: Visit) => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').waitFor();
  };

const showing =
  (part: string) =>
  async ({ page }: Visit) =>
    page.getByRole('heading', { name: part, exact: true }).evaluate((heading) => {
      (heading as unknown as { scrollIntoView(): void }).scrollIntoView();
    });

export const REVIEWS: Area = {
  pages: [
    {
      name: 'pull-requests',
      path: () => '/console/pull-requests',
      read: /^GET \/api\/threads\?/,
      empty: 'service',
    },
    {
      ...scene('blocked', ({ blocked }) => blocked),
      read: /\/threads\/[^/]+\/pull-requests\/pr_/,
      unknown: (ground) => `${panelOf(of(ground).failing)}&pull=${none(of(ground).failing.pull.id)}`,
    },
  ],
  scenes: [
    scene('failing', ({ failing }) => failing),
    scene('ready', ({ ready }) => ready),
    { ...scene('diverged', ({ diverged }) => diverged), prepare: showing('Push') },
    scene('merged', ({ merged }) => merged),
    { ...scene('passed', ({ passed }) => passed), prepare: showing('Review loop') },
    {
      name: 'pull-request-new',
      path: (ground) => panelOf({ project: of(ground).project, threadId: of(ground).fresh.id }),
    },
    { ...scene('merge', ({ ready }) => ready), prepare: press('Merge') },
    { ...scene('edit', ({ failing }) => failing), prepare: press('Edit') },
    { ...scene('take', ({ diverged }) => diverged), prepare: press('Choose whose files count') },
    { ...scene('update', ({ failing }) => failing), prepare: press('Update the branch') },
    { name: 'pull-requests-merged', path: () => '/console/pull-requests?state=merged' },
  ],
  writes: WRITES,
};
