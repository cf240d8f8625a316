import { useForumGroups } from './groups.ts';
import css from './editor.module.css';

/** The group of the forum that a question is put into. */
export const GroupField = ({
  value,
  onChange,
}: {
  value: number;
  onChange: (id: number) => void;
}) => {
  const groups = useForumGroups().data ?? [];
  return (
    <label className={css.editorGroup}>
      <span>分组</span>
      <select value={value} onChange={(event) => onChange(Number(event.target.value))}>
        {groups.length === 0 && <option value={value}>默认分组</option>}
        {groups.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
};
