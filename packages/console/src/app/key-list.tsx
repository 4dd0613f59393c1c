import { lazy, Suspense } from 'react';
import { Dialog } from '../ui/overlays.tsx';

const KeyTable = lazy(async () => ({ default: (await import('./key-table.tsx')).KeyTable }));

export function KeyList({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose}>
      <Suspense>
        <KeyTable />
      </Suspense>
    </Dialog>
  );
}
