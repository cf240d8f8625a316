import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';

const classOf = (on: boolean, className: string) =>
  ['chip', on && 'chip-on', className].filter(Boolean).join(' ');

interface Own {
  /** Looks chosen; what says so to a screen reader (aria-pressed, aria-checked) does it too. */
  on?: boolean;
}

/** A small button of a row: a filter, a choice, an act beside what it is about. */
export const Chip = ({ on = false, className = '', ...rest }: ComponentProps<'button'> & Own) => (
  <button type="button" {...rest} className={classOf(on, className)} />
);

/** A chip that leads to another screen. */
export const ChipLink = createLink(
  ({ on = false, className = '', ...rest }: ComponentProps<'a'> & Own) => (
    <a {...rest} className={classOf(on, className)} />
  ),
);

/** The dot of a model's or a group's own colour; without one, the theme's. */
export const ChipDot = ({ color }: { color?: string | undefined }) => (
  <span className="chip-dot" style={{ background: color || undefined }} />
);

interface TagProps extends ComponentProps<'span'> {
  /** vip: golden; free: green, costs nothing. */
  kind?: 'vip' | 'free' | undefined;
}

/** A word or two of state beside a name. */
export const Tag = ({ kind, className = '', ...rest }: TagProps) => (
  <span {...rest} className={['tag', kind && `tag-${kind}`, className].filter(Boolean).join(' ')} />
);
