import type { SiteFinding } from '#contract/setup.ts';
import { Icon } from '#src/ui/icon.tsx';
import css from './findings.module.css';

const icons = { well: 'check', note: 'help', broken: 'warning' } as const;

/** What a check found, and what to do where it is not well. */
export const Findings = ({ list }: { list: readonly SiteFinding[] }) => (
  <ul className={css.found} role="status">
    {list.map(({ area, state, text, advice }) => (
      <li key={`${area} ${text}`} data-state={state}>
        <Icon name={icons[state]} size={18} />
        <span>
          {area}：{text}
          {advice !== '' && <small>{advice}</small>}
        </span>
      </li>
    ))}
  </ul>
);
