import { aspectName } from './aspect-name.ts';
import type { ImageDraft } from './image-draft.ts';
import { useTranslates } from './translation-price.ts';
import { Sheet } from '#src/ui/sheet.tsx';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { sizesOf } from '#contract/image-size.ts';
import type { ImageRequest } from '#contract/chat.ts';
import { limits } from '#contract/limits.ts';
import type { Model } from '#contract/model.ts';
import drawCss from './image-session.module.css';

/** Of the little images of sizes, px. */
const side = 26;

/** How many images, and how large: what is changed most often, one tap each. */
export const ImageChoices = ({
  open,
  model,
  request,
  onChange,
  onClose,
}: {
  open: boolean;
  model: Model | undefined;
  request: ImageRequest;
  onChange: (change: ImageDraft) => void;
  onClose: () => void;
}) => {
  const image = model?.image;
  const translates = useTranslates();
  const most = Math.min(limits.imageCount.most, image?.max_count ?? 1);
  const only = image?.family === 'sd3' && request.base_image !== '';
  return (
    <Sheet popover="panel" open={open} onClose={onClose} title="张数与尺寸">
      <div className={drawCss.choices}>
        <h3 id="choices-count">一次画几张</h3>
        {only && <p className="field-hint">用参考图时这个模型一次只画 1 张</p>}
        <div className={drawCss.choicesCounts} role="radiogroup" aria-labelledby="choices-count">
          {Array.from({ length: most }, (_, at) => at + 1).map((n) => (
            <button
              key={n}
              type="button"
              role="radio"
              aria-checked={n === request.n}
              disabled={only && n > 1}
              onClick={() => onChange({ n })}
            >
              {n}
            </button>
          ))}
        </div>
        <h3 id="choices-size">尺寸</h3>
        <div className={drawCss.choicesSizes} role="radiogroup" aria-labelledby="choices-size">
          {(image ? sizesOf(image) : []).map(({ code, width, height }) => {
            const longest = Math.max(width, height);
            return (
              <button
                key={code}
                type="button"
                role="radio"
                aria-checked={code === request.size}
                onClick={() => onChange({ size: code })}
              >
                <i style={{ width: (width / longest) * side, height: (height / longest) * side }} />
                <span>
                  {width}×{height}
                  <small>{aspectName(width, height)}</small>
                </span>
              </button>
            );
          })}
        </div>
        {translates && image?.family !== 'built-in' && (
          <SwitchField
            label="把提示词翻译成英文"
            hint="有些模型只看得懂英文；已经是英文的不翻译"
            checked={request.translate === 1}
            onChange={(on) => onChange({ translate: on ? 1 : 0 })}
          />
        )}
      </div>
    </Sheet>
  );
};
