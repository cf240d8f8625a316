import type { ReactNode } from 'react';
import css from './stats.module.css';

export interface Figure {
  label: string;
  value: string;
  note?: ReactNode;
}

/** Numbers that one looks at first. */
export const Figures = ({ figures }: { figures: readonly Figure[] }) => (
  <dl className={css.figures}>
    {figures.map(({ label, value, note }) => (
      <div key={label}>
        <dt>{label}</dt>
        <dd>
          <strong>{value}</strong>
          {note && <small>{note}</small>}
        </dd>
      </div>
    ))}
  </dl>
);
