/** Find and go: pages, apps, threads, anything by its id. */
import { lazy, Suspense } from 'react';
import { Dialog } from '../ui/overlays.tsx';

const Finder = lazy(async () => ({ default: (await import('./finder.tsx')).Finder }));

export function Palette({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="Find and go" isOpen={isOpen} onClose={onClose}>
      <Suspense>
        <Finder onGone={onClose} />
      </Suspense>
    </Dialog>
  );
}
