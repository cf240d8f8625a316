import { Icon, type IconName } from './icon.tsx';

/** One of the things that a sheet offers to do. */
export const Act = ({
  icon,
  label,
  danger = false,
  onClick,
}: {
  icon: IconName;
  label: string;
  danger?: boolean;
  onClick: () => void;
}) => (
  <button type="button" className={danger ? 'act act-danger' : 'act'} onClick={onClick}>
    <Icon name={icon} />
    {label}
  </button>
);
