import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

/** A list without entries, or one that could not be read: what it is, and what to do next. */
export const EmptyState = ({
  icon,
  image,
  text,
  action,
}: {
  icon?: IconName;
  /** Drawn larger in the icon's place. */
  image?: ReactNode;
  text: string;
  action?: ReactNode;
}) => (
  <div className="empty">
    {image}
    {icon && (
      <span className="empty-icon">
        <Icon name={icon} size={28} />
      </span>
    )}
    <p>{text}</p>
    {action}
  </div>
);
