import type { ButtonHTMLAttributes, Ref } from 'react';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** primary: the one act of the screen; plain: others; ghost: without ground; danger: destroys. */
  kind?: 'primary' | 'plain' | 'ghost' | 'danger';
  /** small keeps a 44 px target by its surrounding; icon is square and needs an aria-label. */
  size?: 'normal' | 'small' | 'icon';
  /** Busy: looks and acts disabled, and says so. */
  busy?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

export const Button = ({
  kind = 'plain',
  size = 'normal',
  busy = false,
  className = '',
  disabled,
  ...rest
}: Props) => (
  <button
    type="button"
    {...rest}
    className={`button button-${kind} button-${size} ${className}`}
    disabled={disabled === true || busy}
    aria-busy={busy || undefined}
  />
);
