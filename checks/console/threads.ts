/** Threads of an app on the shared service, and their pages. */
import type { Thread } from '@headrace/client';
import type { Locator, Page } from 'playwright-core';
import type { Visit, VisitOptions } from './browser.ts';
import { makeApp, untilThread } from './ground.ts';
import type { App, Site } from './ground.ts';
import { visitAt } from './page.ts';
import { sharedSite } from './rig.ts';
import type { Rig } from './rig.ts';

export interface Threads {
  site: Site;
  app: App;
  /** One that is ready. */
  make(title: string): Promise<Thread>;
  show(thread: Thread, options?: Partial<VisitOptions> & { search?: string }): Promise<Visit>;
}

/** To be called in a hook. */
export async function makeThreads(rig: Rig): Promise<Threads> {
  const site = sharedSite();
  const app = await makeApp(site.client);
  return {
    site,
    app,
    async make(title) {
      const { thread } = await site.client.threads.create(app.id, { title });
      return untilThread(site.client, app, thread.id, ({ status }) => status === 'ready');
    },
    show: (thread, { search = '', ...options } = {}) =>
      visitAt(rig, `/console/apps/${app.id}/threads/${thread.id}${search}`, {
        base: site.base,
        state: site.state,
        ...options,
      }),
  };
}

export const conversation = (page: Page): Locator => page.getByRole('feed', { name: 'Conversation' });
