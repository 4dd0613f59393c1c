import { createRouter } from '@tanstack/react-router';
import { NoSuchPage, PageFailure } from './root.tsx';
import { Skeleton } from '../ui/states.tsx';
import { routeTree } from './routes.tsx';

export const router = createRouter({
  routeTree,
  basepath: '/console',
  defaultPreload: 'intent',
  defaultNotFoundComponent: NoSuchPage,
  defaultErrorComponent: PageFailure,
  defaultPendingComponent: () => <Skeleton lines={6} />,
  defaultPendingMs: 150,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
