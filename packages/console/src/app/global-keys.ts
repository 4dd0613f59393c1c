import { useNavigate } from '@tanstack/react-router';
import { useIsOperator, useSession } from '../api/session.ts';
import { moveRow, useKeys } from '../ui/keys.ts';

/** The shortcuts of every page. */
export function useGlobalKeys({
  openPalette,
  openKeys,
}: {
  openPalette: () => void;
  openKeys: () => void;
}): void {
  const navigate = useNavigate();
  const isOperator = useIsOperator();
  const { platformApi } = useSession().entitlements;
  useKeys([
    { keys: 'mod+k', does: 'Find and go', run: openPalette },
    { keys: '?', does: 'Show the keys', run: openKeys },
    { keys: 'g i', does: 'Go to the inbox', run: () => void navigate({ to: '/' }) },
    ...(platformApi
      ? [{ keys: 'g a', does: 'Go to the apps', run: () => void navigate({ to: '/apps' }) }]
      : []),
    { keys: 'g e', does: 'Go to the events', run: () => void navigate({ to: '/events' }) },
    ...(isOperator
      ? [{ keys: 'g s', does: 'Go to the system', run: () => void navigate({ to: '/system' }) }]
      : []),
    { keys: 'j', does: 'Next row', run: () => moveRow(1) },
    { keys: 'k', does: 'Previous row', run: () => moveRow(-1) },
    {
      keys: '/',
      does: 'Find in the page',
      run: () => document.querySelector<HTMLElement>('[data-find] input, input[data-find]')?.focus(),
    },
  ]);
}
