import { createRouter, stringifySearchWith } from '@tanstack/react-router';
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
  // `L=12`, not `L=%2212%22`: only a text that would be read as another one is quoted.
  stringifySearch: stringifySearchWith(JSON.stringify, (text) => {
    const value: unknown = JSON.parse(text);
    const isPlain = typeof value === 'number' || typeof value === 'boolean';
    if (isPlain && JSON.stringify(value) === text) throw new Error('It is read as it is written.');
    return value;
  }),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
