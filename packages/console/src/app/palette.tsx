/** Find and go: pages, apps, threads, anything by its id. */
import { lazy } from 'react';
import { Part, usePreload } from './part.tsx';

const load = () => import('./finder.tsx');
const Finder = lazy(async () => ({ default: (await load()).Finder }));

export function Palette({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  // What is typed before the palette is there would be lost.
  usePreload(load);
  if (!isOpen) return null;
  return (
    <Part isOver onDismiss={onClose}>
      <Finder onClose={onClose} />
    </Part>
  );
}
