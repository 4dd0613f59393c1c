/** Buttons and links that look like them. */
import { Link } from '@tanstack/react-router';
import type { LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { OverlayArrow } from 'react-aria-components/Popover';
import { ToggleButton as AriaToggleButton } from 'react-aria-components/ToggleButton';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';
import type { ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import type { ToggleButtonProps } from 'react-aria-components/ToggleButton';

export type ButtonKind = 'plain' | 'primary' | 'danger' | 'quiet';

export interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style'> {
  kind?: ButtonKind;
  /** Why the button is off; null while it is on. It stays focusable, so that the reason can be read. */
  offBecause?: string | null | undefined;
  /** `j` and `k` stop here. */
  'data-row'?: boolean;
}

/** A button that is off for a reason says so in a tooltip and stays in the tab order. */
export function Button({ kind = 'plain', offBecause, onPress, ...props }: ButtonProps) {
  const given = { ...props, className: 'button', 'data-kind': kind };
  const button = offBecause ? (
    <AriaButton {...given} type="button" aria-disabled="true" />
  ) : (
    <AriaButton {...given} {...(onPress && { onPress })} />
  );
  // With a tooltip also while it is on: another parent would make another button, and the focus would be lost.
  return offBecause === undefined ? button : <Tip text={offBecause || null}>{button}</Tip>;
}

/** A square button with a picture. The label is its name and its tooltip. */
export function IconButton({
  label,
  children,
  ...props
}: Omit<AriaButtonProps, 'className' | 'style' | 'children'> & { label: string; children: ReactNode }) {
  return (
    <Tip text={label}>
      <AriaButton {...props} aria-label={label} className="button" data-kind="icon">
        {children}
      </AriaButton>
    </Tip>
  );
}

/** A button that is on or off. */
export function Toggle({
  kind = 'plain',
  ...props
}: Omit<ToggleButtonProps, 'className'> & { kind?: ButtonKind }) {
  return <AriaToggleButton {...props} className="button" data-kind={kind} />;
}

/** A link of the console that looks like a button. */
export function ButtonLink({
  kind = 'plain',
  children,
  ...props
}: LinkProps & { kind?: ButtonKind; children: ReactNode; 'data-row'?: boolean }) {
  return (
    <Link {...props} className="button" data-kind={kind}>
      {children}
    </Link>
  );
}

/** A tooltip for one focusable child; null for none now. */
export function Tip({ text, children }: { text: string | null; children: ReactNode }) {
  return (
    <TooltipTrigger delay={400} closeDelay={0} isDisabled={text === null}>
      {children}
      {text !== null && (
        <Tooltip className="popover max-w-80 px-2 py-1 text-12" offset={6}>
          <OverlayArrow />
          {text}
        </Tooltip>
      )}
    </TooltipTrigger>
  );
}
