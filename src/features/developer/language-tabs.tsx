import css from './api.module.css';

/** Chooses the language that a request is shown in. */
export const LanguageTabs = ({
  languages,
  at,
  onChoose,
}: {
  languages: readonly { name: string }[];
  /** Place of the chosen one. */
  at: number;
  onChoose: (at: number) => void;
}) => (
  <div className={css.choices} role="tablist" aria-label="语言">
    {languages.map(({ name }, index) => (
      <button
        key={name}
        type="button"
        role="tab"
        className="chip"
        aria-selected={index === at}
        aria-pressed={index === at}
        onClick={() => onChoose(index)}
      >
        {name}
      </button>
    ))}
  </div>
);
