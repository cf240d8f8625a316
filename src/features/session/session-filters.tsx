import { Chip } from '#src/ui/chip.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { useModelLook } from './session-card.tsx';
import css from './home.module.css';

export interface FilterValues {
  model?: string | undefined;
  user_id?: number | undefined;
  scenario_id?: number | undefined;
}

const ModelOption = ({ name }: { name: string }) => (
  <option value={name}>{useModelLook(name).label}</option>
);

const FilterChip = ({ text, onClear }: { text: string; onClear: () => void }) => (
  <Chip on aria-label={`去掉筛选：${text}`} onClick={onClear}>
    <span className="chip-text">{text}</span>
    <Icon name="close" size={14} />
  </Chip>
);

/** Narrows the list by model; what narrows it is named and can be taken away. */
export const SessionFilters = ({
  values,
  models,
  author,
  scenario,
  onChange,
}: {
  values: FilterValues;
  /** The models that occur in the list. */
  models: readonly string[];
  /** Names of what the list is narrowed to; empty: not known. */
  author: string;
  scenario: string;
  onChange: (change: FilterValues) => void;
}) => {
  const offered =
    values.model && !models.includes(values.model) ? [values.model, ...models] : models;
  return (
    <div className={css.filters}>
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
        <FilterChip
          text={author ? `作者：${author}` : '只看一位作者'}
          onClear={() => onChange({ user_id: undefined })}
        />
      )}
      {values.scenario_id !== undefined && (
        <FilterChip
          text={scenario ? `场景：${scenario}` : '只看一个场景'}
          onClear={() => onChange({ scenario_id: undefined })}
        />
      )}
    </div>
  );
};
