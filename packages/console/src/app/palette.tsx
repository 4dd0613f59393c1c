/** Find and go: pages, apps, threads, anything by its id. */
import { Dialog } from '../ui/overlays.tsx';

export function Palette({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="Find and go" isOpen={isOpen} onClose={onClose}>
      {null}
    </Dialog>
  );
}
