import { Fragment, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import kitCss from './send-kit.module.css';

/** Gives the text box's keys to what is open over it; true: the key was for that. Null: no more. */
export type TakeKeys = (take: ((event: KeyboardEvent) => boolean) | null) => void;

export interface Pick {
  key: string;
  /** Said over the first of those that have it in common. */
  group?: string;
  label: string;
  note?: string | undefined;
  /** At its end: what it costs. */
  tail?: string;
  lead?: ReactNode;
  run: () => void;
}

/** What may be meant, beside the text box while one types: up, down, Enter, Escape, or a press. */
export const PickList = ({
  label,
  picks,
  first = 0,
  below = false,
  onKeys,
  onClose,
}: {
  label: string;
  picks: readonly Pick[];
  /** The one that Enter takes at first. */
  first?: number;
  /** Below the box, where there is no room above it. */
  below?: boolean;
  onKeys: TakeKeys;
  onClose: () => void;
}) => {
  const [moved, setMoved] = useState(first);
  const at = Math.min(moved, picks.length - 1);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    onKeys((event) => {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (event.nativeEvent.isComposing) return false;
      if (step !== 0) setMoved((at + step + picks.length) % picks.length);
      else if (event.key === 'Enter' || event.key === 'Tab') picks[at]?.run();
      else if (event.key === 'Escape') onClose();
      else return false;
      return true;
    });
    return () => onKeys(null);
  });
  useEffect(() => {
    list.current?.querySelectorAll('[role="option"]')[at]?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  useEffect(() => {
    const away = (event: PointerEvent) => {
      if (!(event.target instanceof Node) || list.current?.contains(event.target)) return;
      onClose();
    };
    addEventListener('pointerdown', away);
    return () => removeEventListener('pointerdown', away);
  });
  return (
    <ul
      className={kitCss.atList}
      data-below={below || undefined}
      role="listbox"
      aria-label={label}
      ref={list}
    >
      {picks.map((pick, index) => (
        <Fragment key={pick.key}>
          {pick.group !== undefined && pick.group !== picks[index - 1]?.group && (
            <li className={kitCss.atListHead} role="presentation">
              {pick.group}
            </li>
          )}
          <li role="presentation">
            <button
              type="button"
              role="option"
              aria-selected={index === at}
              tabIndex={-1}
              onPointerMove={() => setMoved(index)}
              onClick={pick.run}
            >
              {pick.lead}
              <span className={kitCss.atListWords}>
                <span>{pick.label}</span>
                {pick.note && <small>{pick.note}</small>}
              </span>
              {pick.tail && <small>{pick.tail}</small>}
            </button>
          </li>
        </Fragment>
      ))}
    </ul>
  );
};
