import { finePointer, useMedia } from '#src/platform/use-media.ts';
import { Icon } from './icon.tsx';

/** Narrows the list below it as one types; in a popover all letters go to it. */
export const FilterField = ({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) => {
  // On a phone the keyboard would cover what is chosen from.
  const handy = useMedia(finePointer);
  return (
    <label className="filter-box" data-filter>
      <Icon name="search" size={18} />
      <span className="sr-only">{label}</span>
      <input
        // Escape closes what it stands in; in a field of type search it would empty the field first.
        type="text"
        role="searchbox"
        enterKeyHint="search"
        data-autofocus={handy || undefined}
        value={value}
        maxLength={100}
        placeholder={label}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
};
