import { ButtonLink } from './button.tsx';
import { type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

/** The head of a screen below another: the way back, its title, and what can be done there. */
export const BackHead = ({
  to,
  back,
  title,
  children,
}: {
  to: LinkProps['to'];
  /** What the way back is called. */
  back: string;
  title: string;
  children?: ReactNode;
}) => (
  <header className="page-head">
    <ButtonLink to={to} kind="ghost" size="icon" aria-label={back}>
      <Icon name="back" size={24} />
    </ButtonLink>
    <h1>{title}</h1>
    {children}
  </header>
);
