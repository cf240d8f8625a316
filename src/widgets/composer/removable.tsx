import { Icon } from '#src/ui/icon.tsx';
import kitCss from './send-kit.module.css';

/** What goes along with the next message, and can be taken away. */
export const Removable = ({
  words,
  label,
  onRemove,
}: {
  words: string;
  label: string;
  onRemove: () => void;
}) => (
  <span className={kitCss.sendChip}>
    <span>{words}</span>
    <button type="button" aria-label={label} onClick={onRemove}>
      <Icon name="close" size={14} />
    </button>
  </span>
);
