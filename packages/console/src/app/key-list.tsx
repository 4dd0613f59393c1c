import { lazy } from 'react';
import { Part } from './part.tsx';

const KeyTable = lazy(async () => ({ default: (await import('./key-table.tsx')).KeyTable }));

/** The shortcuts that work on this page. */
export function KeyList({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  if (!isOpen) return null;
  return (
    <Part isOver onDismiss={onClose}>
      <KeyTable onClose={onClose} />
    </Part>
  );
}
