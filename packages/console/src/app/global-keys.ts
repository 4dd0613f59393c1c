import { useNavigate } from '@tanstack/react-router';
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
  useKeys([
    { keys: 'mod+k', does: 'Find and go', run: openPalette },
    { keys: '?', does: 'Show the keys', run: openKeys },
    { keys: 'g i', does: 'Go to the inbox', run: () => void navigate({ to: '/' }) },
    { keys: 'g a', does: 'Go to the apps', run: () => void navigate({ to: '/apps' }) },
    { keys: 'j', does: 'Next row', run: () => moveRow(1) },
    { keys: 'k', does: 'Previous row', run: () => moveRow(-1) },
    {
      keys: '/',
      does: 'Find in the page',
      run: () => document.querySelector<HTMLElement>('[data-find] input, input[data-find]')?.focus(),
    },
  ]);
}
