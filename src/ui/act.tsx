import { useOnce } from '#src/platform/use-once.ts';
import { Icon, type IconName, PathIcon } from './icon.tsx';
import css from './act.module.css';

/** One of the things that a sheet offers to do. */
export const Act = ({
  icon,
  label,
  note = '',
  danger = false,
  onClick,
}: {
  /** Its name, or the path of one that loads later. */
  icon: IconName | { path: string };
  label: string;
  /** Said at its end: what it costs. */
  note?: string | undefined;
  danger?: boolean;
  /** Until what it gives ends, no other press is taken. */
  onClick: () => unknown;
}) => {
  const { busy, once } = useOnce();
  return (
    <button
      type="button"
      className={danger ? `${css.act} ${css.actDanger}` : css.act}
      aria-label={note === '' ? undefined : `${label}，${note}`}
      aria-busy={busy || undefined}
      onClick={() => once(onClick)}
    >
      {typeof icon === 'string' ? <Icon name={icon} /> : <PathIcon path={icon.path} />}
      {label}
      {note !== '' && <small className={css.actNote}>{note}</small>}
    </button>
  );
};

export interface MenuAct {
  icon: IconName;
  label: string;
  note?: string | undefined;
  danger?: boolean;
  act: () => void;
}

/** All that a menu offers: it closes, then does what was chosen. False: not offered here. */
export const ActMenu = ({
  acts,
  onClose,
}: {
  acts: readonly (MenuAct | false)[];
  onClose: () => void;
}) =>
  acts.map((each) => {
    if (!each) return null;
    const { act, ...shown } = each;
    return (
      <Act
        key={each.label}
        {...shown}
        onClick={() => {
          onClose();
          act();
        }}
      />
    );
  });
