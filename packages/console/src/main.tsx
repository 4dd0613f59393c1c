/** Starts the console. */
import './ui/look.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './app/queries.ts';
import { router } from './app/router.tsx';
import { showTheme } from './app/theme.ts';

showTheme();
// The router itself would ask for the page's code when it knows who is signed in.
const [opened] = router.getMatchedRoutes(router.latestLocation.pathname);
for (const route of opened) void router.loadRouteChunk(route)?.catch(() => {});
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
