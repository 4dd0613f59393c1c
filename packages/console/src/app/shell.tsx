/** The signed-in page: sidebar, header, content; live data; the dialog of an expired session. */
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { LiveProvider } from '../live/index.ts';
import { Skeleton } from '../ui/states.tsx';
import { Header } from './header.tsx';
import { Banner } from './banner.tsx';
import { KeyList } from './key-list.tsx';
import { Palette } from './palette.tsx';
import { SessionGate, useLiveOfSession } from './session.tsx';
import { Sidebar } from './sidebar.tsx';
import { useGlobalKeys } from './global-keys.ts';

export function Shell() {
  const { live, isReady } = useLiveOfSession();
  const [over, setOver] = useState<'palette' | 'keys' | 'sidebar' | null>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useGlobalKeys({ openPalette: () => setOver('palette'), openKeys: () => setOver('keys') });
  // On a small screen the sidebar covers the page that was asked for.
  useEffect(() => setOver((shown) => (shown === 'sidebar' ? null : shown)), [path]);
  const close = useCallback(() => setOver(null), []);
  return (
    <LiveProvider live={live}>
      <a href="#main" className="popover sr-only z-50 p-2 focus:not-sr-only focus:absolute">
        Skip to the content
      </a>
      <div className="flex min-h-dvh">
        <Sidebar isReady={isReady} isOpen={over === 'sidebar'} onClose={close} />
        <div inert={over === 'sidebar'} className="flex min-w-0 flex-1 flex-col">
          <Header onPalette={() => setOver('palette')} onSidebar={() => setOver('sidebar')} />
          <Banner />
          <main id="main" tabIndex={-1} className="flex min-w-0 flex-1 flex-col outline-none">
            {isReady ? <Outlet /> : <Skeleton lines={6} />}
          </main>
        </div>
      </div>
      <Palette isOpen={over === 'palette'} onClose={close} />
      <KeyList isOpen={over === 'keys'} onClose={close} />
      <SessionGate />
    </LiveProvider>
  );
}
