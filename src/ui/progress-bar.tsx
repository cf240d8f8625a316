import css from './progress-bar.module.css';

/** How far something is; `part` from 0 to 1. */
export const ProgressBar = ({
  label,
  part,
  className = '',
}: {
  label: string;
  part: number;
  /** Where it stands in its screen. */
  className?: string;
}) => (
  <span
    className={`${css.bar} ${className}`}
    role="progressbar"
    aria-label={label}
    aria-valuenow={Math.floor(part * 100)}
    aria-valuemin={0}
    aria-valuemax={100}
  >
    <i style={{ transform: `scaleX(${part})` }} />
  </span>
);
