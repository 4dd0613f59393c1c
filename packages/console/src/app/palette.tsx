/** Find and go: pages, apps, threads, anything by its id. */
import { lazy, Suspense, useEffect } from 'react';

const load = () => import('./finder.tsx');
const Finder = lazy(async () => ({ default: (await load()).Finder }));
/** After the first page has been shown, and before anybody is likely to press the keys. */
const PRELOAD_MS = 1_500;

export function Palette({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  // What is typed before the palette is there would be lost.
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => {}), PRELOAD_MS);
    return () => clearTimeout(timer);
  }, []);
  return <Suspense>{isOpen && <Finder onClose={onClose} />}</Suspense>;
}
