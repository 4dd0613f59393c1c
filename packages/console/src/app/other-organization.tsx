import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { leaveTo } from './leave.ts';

/** Over a page whose organization another tab has left: its requests would act in the other one. */
export function OtherOrganization() {
  return (
    <Dialog title="You now work in another organization" isHeld isOpen onClose={() => {}}>
      <p className="text-ink-2">Another tab has changed it. This page belongs to the one before.</p>
      <div>
        <Button kind="primary" onPress={() => leaveTo('/console/')}>
          Reload
        </Button>
      </div>
    </Dialog>
  );
}
