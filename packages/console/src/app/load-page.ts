import { lazyRouteComponent } from '@tanstack/react-router';

/** Browsers remember it: only a reload asks again. */
export class LostPage extends Error {}

/**
 * A page that is loaded when it is opened. For the browser's own words about a part that is not there, the router
 * reloads the window by itself, also without a connection: what was typed would be lost.
 */
export const page: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () =>
      load().catch((cause: unknown) => {
        throw new LostPage('This page could not be loaded. Check the connection, or reload.', { cause });
      }),
    name,
  );
