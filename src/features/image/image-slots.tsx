import { pickImages } from '#src/widgets/image/image-picker.ts';
import { AnyImage } from '#src/widgets/image/foreign-image.tsx';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { toast } from '#src/platform/toast.ts';
import css from './image-tool.module.css';

/** Images that go along: some at most, each once. */
export const ImageSlots = ({
  label,
  hint,
  urls,
  max,
  onChange,
}: {
  label: string;
  hint?: string;
  urls: readonly string[];
  max: number;
  onChange: (urls: string[]) => void;
}) => {
  const add = async () => {
    const picked = await pickImages({ max: max - urls.length, title: `选择${label}` });
    const all = [...new Set([...urls, ...picked.map(({ url }) => url)])];
    if (all.length > max) toast(`图片数量不能大于${max}张`, 'error');
    if (picked.length > 0) onChange(all.slice(0, max));
  };
  return (
    <div className="field" role="group" aria-label={label}>
      <div className="field-head">
        <span>{label}</span>
        <output>
          {urls.length} / {max}
        </output>
      </div>
      {hint && <p className="field-hint">{hint}</p>}
      <ul className={css.toolSlots}>
        {urls.map((url, at) => (
          <li key={url}>
            <AnyImage url={url} side={180} alt={`${label} 第 ${at + 1} 张`} />
            <button
              type="button"
              className={`round ${css.toolSlotRemove}`}
              aria-label={`移除${label} 第 ${at + 1} 张`}
              onClick={() => onChange(urls.filter((other) => other !== url))}
            >
              <Icon name="close" size={14} />
            </button>
          </li>
        ))}
        <li>
          <Button
            className={css.toolSlotAdd}
            aria-label={`添加${label}`}
            onClick={() => {
              if (urls.length >= max) toast(`图片数量不能大于${max}张`, 'error');
              else void add();
            }}
          >
            <Icon name="plus" />
          </Button>
        </li>
      </ul>
    </div>
  );
};
