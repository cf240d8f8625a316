import { useModelLook } from './session-card.tsx';
import { Icon } from '@/shared/ui/icon.tsx';
import { useState } from 'react';

export interface FilterValues {
  query?: string;
  model?: string;
  user_id?: number;
  scenario_id?: number;
}

const ModelOption = ({ name }: { name: string }) => (
  <option value={name}>{useModelLook(name).label}</option>
);

/** Narrows the list by words of the title and by model; what narrows it is shown and can be taken away. */
export const SessionFilters = ({
  values,
  models,
  onChange,
}: {
  values: FilterValues;
  /** The models that occur in the list. */
  models: readonly string[];
  onChange: (change: FilterValues) => void;
}) => {
  const [words, setWords] = useState(values.query ?? '');
  const [applied, setApplied] = useState(values.query);
  if (applied !== values.query) {
    // The address changed by other means, such as the back button.
    setApplied(values.query);
    setWords(values.query ?? '');
  }
  const offered =
    values.model && !models.includes(values.model) ? [values.model, ...models] : models;
  return (
    <div className="filters">
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          onChange({ query: words.trim() || undefined });
        }}
      >
        <label className="filter-box">
          <Icon name="search" size={18} />
          <span className="sr-only">按标题筛选</span>
          <input
            type="search"
            value={words}
            maxLength={200}
            placeholder="按标题筛选"
            enterKeyHint="search"
            onChange={(event) => {
              setWords(event.target.value);
              if (event.target.value === '') onChange({ query: undefined });
            }}
          />
        </label>
      </form>
      <select
        aria-label="按模型筛选"
        value={values.model ?? ''}
        onChange={(event) => onChange({ model: event.target.value || undefined })}
      >
        <option value="">全部模型</option>
        {offered.map((name) => (
          <ModelOption key={name} name={name} />
        ))}
      </select>
      {values.user_id !== undefined && (
        <button
          type="button"
          className="chip chip-on"
          onClick={() => onChange({ user_id: undefined })}
        >
          只看一位作者
          <Icon name="close" size={14} />
        </button>
      )}
      {values.scenario_id !== undefined && (
        <button
          type="button"
          className="chip chip-on"
          onClick={() => onChange({ scenario_id: undefined })}
        >
          只看一个场景
          <Icon name="close" size={14} />
        </button>
      )}
    </div>
  );
};
