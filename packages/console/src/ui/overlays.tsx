/** Dialogs and menus. */
import type { ReactNode } from 'react';
import {
  Dialog as AriaDialog,
  Heading,
  Menu as AriaMenu,
  MenuItem,
  MenuTrigger,
  Modal,
  ModalOverlay,
  Popover,
} from 'react-aria-components';
import { Button } from './button.tsx';
import type { ButtonKind } from './button.tsx';

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

export interface Choose {
  id: string;
  text: string;
  onAction: () => void;
  isDanger?: boolean;
}

/** A button with a menu below it. */
export function Menu({
  label,
  icon,
  kind = 'plain',
  items,
}: {
  label: string;
  /** Shown instead of the label, which stays its name. */
  icon?: ReactNode;
  kind?: ButtonKind;
  items: Choose[];
}) {
  return (
    <MenuTrigger>
      <Button kind={kind} aria-label={label}>
        {icon ?? label}
      </Button>
      <Popover className="popover min-w-48">
        <AriaMenu items={items} className="outline-none">
          {({ id, text, onAction, isDanger }) => (
            <MenuItem id={id} onAction={onAction} className={`item ${isDanger ? 'text-fail' : ''}`}>
              {text}
            </MenuItem>
          )}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}
