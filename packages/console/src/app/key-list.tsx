import { lazy, Suspense } from 'react';

const KeyTable = lazy(async () => ({ default: (await import('./key-table.tsx')).KeyTable }));

/** The shortcuts that work on this page. */
export function KeyList({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return <Suspense>{isOpen && <KeyTable onClose={onClose} />}</Suspense>;
}
