/** Dialogs over the page. */
import type { ReactNode } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Button } from './button.tsx';

/** Over the page. `isHeld`: neither Escape nor a click beside it closes it. */
export function Dialog({
  title,
  isOpen,
  onClose,
  isHeld = false,
  wide = false,
  children,
}: {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  isHeld?: boolean;
  wide?: boolean;
  children: ReactNode;
}) {
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable={!isHeld}
      isKeyboardDismissDisabled={isHeld}
      className="fixed inset-0 z-50 flex items-start justify-center overflow-auto bg-[rgb(0_0_0/40%)] p-4 pt-[10vh]"
    >
      <Modal className={`popover w-full ${wide ? 'max-w-[960px]' : 'max-w-[480px]'}`}>
        <AriaDialog className="flex flex-col gap-4 p-4 outline-none">
          <Heading slot="title" className="text-19 font-bold">
            {title}
          </Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Asks before something that cannot be undone. `verb` names the button: "Delete the app". */
export function Confirm({
  title,
  verb,
  isOpen,
  onClose,
  onConfirm,
  children,
}: {
  title: string;
  verb: string;
  isOpen: boolean;
  onClose: () => void;
  onConfirm: () => void;
  children: ReactNode;
}) {
  const confirm = () => {
    onClose();
    onConfirm();
  };
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <div className="text-ink-2">{children}</div>
      <div className="flex justify-end gap-2">
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="danger" onPress={confirm}>
          {verb}
        </Button>
      </div>
    </Dialog>
  );
}
