/** Find and go: pages, apps, threads, anything by its id. */
import { lazy, Suspense, useEffect } from 'react';
import { Dialog } from '../ui/overlays.tsx';

const load = () => import('./finder.tsx');
const Finder = lazy(async () => ({ default: (await load()).Finder }));
/** After the first page has been shown, and before anybody is likely to press the keys. */
const PRELOAD_MS = 1_500;

export function Palette({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  // What is typed into a dialog that is still empty would be lost.
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => {}), PRELOAD_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Dialog title="Find and go" isOpen={isOpen} onClose={onClose}>
      <Suspense>
        <Finder onGone={onClose} />
      </Suspense>
    </Dialog>
  );
}
