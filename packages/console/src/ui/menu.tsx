import type { ReactNode } from 'react';
import { Menu as AriaMenu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { Button } from './button.tsx';
import type { ButtonKind } from './button.tsx';

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
