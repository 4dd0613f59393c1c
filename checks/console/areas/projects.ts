/** The pages of projects, and the pages of apps for them. */
import type { Site } from '../ground.ts';
import { none } from '../scene.ts';
import type { Area } from './area.ts';
import { boundProject, GARDEN, threadOf } from './make-project.ts';
import { WRITES_OF_PROJECTS } from './writes-of-projects.ts';

/** A project of a repository in this service with two branches, and one without a repository. */
export async function projectsGround({ client }: Site) {
  const bound = await boundProject(client, 'garden', 'Garden planner');
  const loose = await client.projects.create({ name: 'Loose sheets', metadata: { team: 'paper' } });
  const sheets = client.project(loose.id);
  const { source } = await sheets.sources.import({ files: GARDEN, message: 'The first sheets' });
  await sheets.head.initialize({ sourceId: source.id });
  const bare = await client.projects.create({ name: 'Nothing yet' });
  const thread = await threadOf(client, bound, {
    title: 'Water the plants',
    message: { content: 'Write down when to water.\n\n```sh\necho "Water on Mondays." >> README.md\n```' },
    trackerIssueUrl: 'https://tracker.example.test/GARDEN-7',
    errorTrackerIssue: {
      issueId: '4711',
      shortId: 'WEB-1',
      projectId: '12',
      projectSlug: 'web',
      organizationSlug: 'acme',
      url: 'https://errors.example.test/issues/4711',
    },
  });
  const { thread: fork } = await client.thread(thread.id).fork({ title: 'Water on Tuesdays' });
  const { thread: lost } = await client.threads.createDirect({
    projectId: bound.id,
    title: 'From a branch that is gone',
    baseBranch: 'gone',
  });
  return { bound, loose, bare, thread, fork, lost };
}

const PROJECT = '/console/apps/';

export const PROJECTS: Area = {
  pages: [
    {
      name: 'projects',
      path: () => '/console/projects',
      read: /^GET \/api\/projects\?/,
      empty: 'service',
    },
    {
      name: 'project-race',
      path: ({ areas: { projects } }) => PROJECT + projects.bound.id,
      read: /source-head\/history|\/threads\?/,
      unknown: ({ areas: { projects } }) => PROJECT + none(projects.bound.id),
    },
    {
      name: 'project-sources',
      path: ({ areas: { projects } }) => `${PROJECT}${projects.bound.id}/sources`,
      read: /\/projects\/[^/]+\/sources(\?|$)/,
    },
    {
      name: 'project-source',
      path: ({ areas: { projects } }) => `${PROJECT}${projects.bound.id}/sources/${projects.thread.sourceId}`,
      read: /\/sources\/src_[^/?]+/,
      unknown: ({ areas: { projects } }) =>
        `${PROJECT}${projects.bound.id}/sources/${none(projects.thread.sourceId!)}`,
    },
    {
      name: 'project-builds',
      path: ({ areas: { projects } }) => `${PROJECT}${projects.loose.id}/builds`,
      read: /\/projects\/[^/]+\/builds/,
    },
    {
      name: 'project-applies',
      path: ({ areas: { projects } }) => `${PROJECT}${projects.loose.id}/applies`,
      read: /\/projects\/[^/]+\/applies/,
    },
    {
      name: 'project-settings',
      path: ({ areas: { projects } }) => `${PROJECT}${projects.bound.id}/settings`,
      read: /\/projects\/[^/]+\/settings/,
    },
    {
      name: 'project-thread',
      path: ({ areas: { projects } }) => `${PROJECT}${projects.bound.id}/threads/${projects.thread.id}`,
      read: /\/api\/threads\/thr_[^/?]+(\?|$)/,
      unknown: ({ areas: { projects } }) =>
        `${PROJECT}${projects.bound.id}/threads/${none(projects.thread.id)}`,
    },
  ],
  scenes: [
    {
      name: 'project-new',
      path: () => '/console/projects',
      async prepare({ page }) {
        await page.getByRole('button', { name: 'Create a project' }).click();
        await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Another garden');
        await page.getByRole('combobox', { name: 'Repository' }).fill('gard');
        await page
          .getByRole('option', { name: /garden/ })
          .first()
          .waitFor();
      },
    },
    {
      name: 'project-first',
      path: ({ areas: { projects } }) => PROJECT + projects.bare.id,
    },
    {
      name: 'project-forks',
      path: ({ areas: { projects } }) => `${PROJECT}${projects.bound.id}?show=forks`,
    },
    {
      name: 'project-table',
      path: ({ areas: { projects } }) => `${PROJECT}${projects.bound.id}?show=table`,
    },
    {
      name: 'project-new-thread',
      path: ({ areas: { projects } }) => PROJECT + projects.bound.id,
      async prepare({ page }) {
        await page.getByRole('button', { name: 'New thread' }).click();
        await page.getByLabel('First message').fill('Plant a hedge.');
        await page.locator('summary').click();
        await page.getByLabel('Issue in a tracker').fill('https://tracker.example.test/GARDEN-8');
      },
    },
    {
      name: 'project-lost',
      path: ({ areas: { projects } }) => `${PROJECT}${projects.bound.id}/threads/${projects.lost.id}`,
    },
    {
      name: 'project-workspace',
      path: ({ areas: { projects } }) => `${PROJECT}${projects.bound.id}/threads/${projects.thread.id}`,
      async prepare({ page }) {
        await page.getByRole('button', { name: 'More about this thread' }).click();
        await page.getByRole('menuitem', { name: 'Workspace' }).click();
        await page.getByRole('list', { name: 'Changes of the workspace' }).waitFor();
      },
    },
    {
      name: 'project-export',
      path: ({ areas: { projects } }) => `${PROJECT}${projects.bound.id}/threads/${projects.thread.id}`,
      async prepare({ page }) {
        await page.getByRole('button', { name: 'More about this thread' }).click();
        await page.getByRole('menuitem', { name: 'Export' }).click();
        await page.getByRole('button', { name: 'Save the file' }).waitFor();
      },
    },
  ],
  writes: WRITES_OF_PROJECTS,
};
