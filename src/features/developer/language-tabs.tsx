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
  <div className="segments" role="tablist" aria-label="语言">
    {languages.map(({ name }, index) => (
      <button
        key={name}
        type="button"
        role="tab"
        aria-selected={index === at}
        onClick={() => onChoose(index)}
      >
        {name}
      </button>
    ))}
  </div>
);
