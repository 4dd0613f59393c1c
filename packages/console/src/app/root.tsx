/** What surrounds every page, and what stands in place of one that is unknown or fails. */
import { Link, Outlet, useRouter, useRouterState } from '@tanstack/react-router';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Button } from '../ui/button.tsx';
import { listenToKeys } from '../ui/keys.ts';
import { Notices } from '../ui/notices.tsx';
import { Page } from '../ui/page.tsx';
import { Empty, Failure } from '../ui/states.tsx';
import { LostPage } from './load-page.ts';
import { BadSearch } from './search.ts';

export function Root() {
  useEffect(listenToKeys, []);
  return (
    <>
      <Outlet />
      <Notices />
    </>
  );
}

export function NoSuchPage() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <Page title="No such page">
      <Empty title="This address leads nowhere">
        <p className="long font-mono text-mono">/console{path}</p>
        <Link to="/" className="link">
          Go to the inbox
        </Link>
      </Empty>
    </Page>
  );
}

/** A bad search parameter is named, and can be dropped; any other failure can be tried again. */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const thrown: unknown = error;
  // The router wraps what a search parameter's check throws.
  const bad = [thrown, (thrown as Error | undefined)?.cause].find((one) => one instanceof BadSearch);
  const again = () => {
    if (error instanceof LostPage) return location.reload();
    reset();
    void router.invalidate();
  };
  if (!bad)
    return (
      <Page title="The page failed">
        <Failure error={error} retry={again} />
      </Page>
    );
  return (
    <Page title="Bad address">
      <Empty title="A part of the address is not understood">
        <p className="long">{bad.message}</p>
        <Button onPress={() => void router.navigate({ href: withoutParam(bad.param) })}>
          Open the page without it
        </Button>
      </Empty>
    </Page>
  );
}

function withoutParam(name: string): string {
  const url = new URL(location.href);
  url.searchParams.delete(name);
  return url.pathname.replace(/^\/console/, '') + url.search;
}
