/** Every area beside apps and threads. */
import type { Site } from '../ground.ts';
import type { Area } from './area.ts';
import { PROJECTS, projectsGround } from './projects.ts';
import { REPOSITORIES, repositoriesGround } from './repositories.ts';
import { REVIEWS, reviewsGround } from './reviews/index.ts';
import { WORK, workGround } from './work.ts';
import { HOOKS, hooksGround } from './hooks.ts';
import { HOSTS, hostsGround } from './hosts.ts';
import { TEAM, teamGround } from './team.ts';
import { RUNNING, runningGround } from './running.ts';

export const AREAS: Area[] = [PROJECTS, REPOSITORIES, REVIEWS, WORK, HOOKS, HOSTS, TEAM, RUNNING];

/** What the pages of all areas show, by area. */
export async function areasGround(site: Site) {
  const [projects, repositories, reviews, work, hooks, hosts, team, running] = await Promise.all([
    projectsGround(site),
    repositoriesGround(site),
    reviewsGround(site),
    workGround(site),
    hooksGround(site),
    hostsGround(site),
    teamGround(site),
    runningGround(site),
  ]);
  return { projects, repositories, reviews, work, hooks, hosts, team, running };
}
