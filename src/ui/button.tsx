import { useOnce } from '#src/platform/use-once.ts';
import { createLink } from '@tanstack/react-router';
import type { ComponentProps, MouseEvent } from 'react';

interface Look {
  /** primary: the one act of the screen; plain: others; ghost: without ground; danger: destroys. */
  kind?: 'primary' | 'plain' | 'ghost' | 'danger' | undefined;
  /** small keeps a 44 px target by its surrounding; icon is square and needs an aria-label. */
  size?: 'normal' | 'small' | 'icon' | undefined;
  className?: string | undefined;
}

/** The classes of a button, for what only looks like one: a label around a file's input, another site's link. */
export const buttonClass = ({ kind = 'plain', size = 'normal', className = '' }: Look = {}) =>
  `button button-${kind} button-${size} ${className}`;

interface Props extends Omit<ComponentProps<'button'>, 'onClick'>, Look {
  className?: string | undefined;
  /** Until what it gives ends, the button takes no other press. */
  onClick?: ((event: MouseEvent<HTMLButtonElement>) => unknown) | undefined;
  /** Busy: looks and acts disabled, and says so. */
  busy?: boolean;
}

export const Button = ({
  kind,
  size,
  busy = false,
  className,
  disabled,
  onClick,
  ...rest
}: Props) => {
  const { busy: begun, once } = useOnce();
  return (
    <button
      type="button"
      {...rest}
      className={buttonClass({ kind, size, className })}
      disabled={disabled === true || busy}
      aria-busy={busy || begun || undefined}
      onClick={onClick && ((event) => once(() => onClick(event)))}
    />
  );
};

/** A link to another screen that looks like a button. */
export const ButtonLink = createLink(
  ({ kind, size, className, ...rest }: ComponentProps<'a'> & Look) => (
    <a {...rest} className={buttonClass({ kind, size, className })} />
  ),
);
