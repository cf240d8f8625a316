import { isEmpty, maskParameters, type Mask } from '#src/widgets/viewer/mask.ts';
import { MaskScreen } from '#src/widgets/viewer/mask-screen.tsx';
import { forgetMask } from '#src/widgets/viewer/use-mask.ts';
import { Button } from '#src/ui/button.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { useFormDraft } from '#src/ui/form/form-draft.ts';
import { SliderField } from '#src/ui/slider-field.tsx';
import { toast } from '#src/platform/toast.ts';
import { limits } from '#contract/limits.ts';
import type { ImageAction, ImageParameters, MadeImage } from '#contract/image.ts';
import { useId } from 'react';
import { usePriceOf } from './request-price.ts';
import { followUp, wordsOf, type Asked } from './image-request.ts';
import drawCss from '#src/widgets/image/image-session.module.css';

/** What is done with an image once the person has said more. */
export interface Press {
  asked: Asked;
  image: MadeImage;
  /** A service's button; null: the model's own way to draw a part anew. */
  action: ImageAction | null;
}

interface AskProps {
  press: Press;
  onDraw: (asked: Asked) => void;
}

const zoom = { min: 100, max: 200 };
const { min: fewest, max: most } = limits.imageEditPrompt;

const refusalOf = (words: string): string => {
  if (words === '') return '请填写修改图片的提示内容';
  return words.length < fewest || words.length > most ? `长度在 ${fewest} 到 ${most} 个字符` : '';
};

const keyOf = ({ image, action }: Press): string => `${image.uuid} ${action?.hash ?? ''}`;

const nextOf = ({ asked, image, action }: Press, said: ImageParameters): Asked =>
  followUp(action ? 'action' : 'edit', {
    asked,
    image,
    parameters: { ...(action ? { action } : {}), ...said },
  });

const Words = ({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) => {
  const id = useId();
  return (
    <div className="field">
      <div className="field-head">
        <label htmlFor={id}>{label}</label>
        <output htmlFor={id}>{value.trim().length} 字</output>
      </div>
      <textarea
        id={id}
        className="text-input"
        rows={2}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
};

/** What was said of a press and not drawn yet. */
const usePressDraft = (press: Press) => {
  const { values, ...kept } = useFormDraft(`press.${keyOf(press)}`, {
    words: wordsOf(press.asked),
    far: 150,
  });
  return { ...kept, words: String(values['words']), far: Number(values['far']) };
};

/** How far to draw back. */
const AskZoom = ({ press, onDraw }: AskProps) => {
  const kept = usePressDraft(press);
  const { words, far } = kept;
  const next = nextOf(press, { zoom: far });
  const price = usePriceOf()(next);
  return (
    <div className={drawCss.press}>
      <SliderField
        label="视野扩大到"
        hint="原图留在中间，四周接着画出来"
        min={zoom.min}
        max={zoom.max}
        step={5}
        value={far}
        show={(value) => `${(value / 100).toFixed(2)} 倍`}
        onChange={(next) => kept.set({ words, far: next })}
      />
      <Words label="画面描述" value={words} onChange={(next) => kept.set({ words: next, far })} />
      <Button
        kind="primary"
        onClick={() => {
          kept.drop();
          onDraw({ ...next, prompt: words.trim() });
        }}
      >
        扩图
        {price && ` · ${price.words}`}
      </Button>
    </div>
  );
};

/** What the marked part becomes. */
const AskPart = ({ press, mask, onDraw }: AskProps & { mask: Mask }) => {
  const kept = usePressDraft(press);
  const { words, far } = kept;
  const { image } = press;
  const next = nextOf(press, maskParameters(mask, image));
  const price = usePriceOf()(next);
  const draw = () => {
    const prompt = words.trim();
    const refusal = isEmpty(mask) ? '请先在图片上标出要重绘的地方' : refusalOf(prompt);
    if (refusal !== '') {
      toast(refusal, 'error');
      return;
    }
    kept.drop();
    forgetMask(image.url);
    // The region is measured in the image that it lies in.
    onDraw({ ...next, prompt, image: { ...next.image, base_image: image.url } });
  };
  return (
    <>
      <Words label="这里画什么" value={words} onChange={(next) => kept.set({ words: next, far })} />
      <Button kind="primary" onClick={draw}>
        重绘这块
        {price && ` · ${price.words}`}
      </Button>
    </>
  );
};

/** Asks for what a button needs before it is pressed: a part of the image, or how far to draw back. */
const PressSheet = ({
  press,
  onClose,
  onDraw,
}: {
  /** Null: closed. */
  press: Press | null;
  onClose: () => void;
  onDraw: (asked: Asked) => void;
}) => {
  const zooming = press?.action?.asks === 'zoom' ? press : null;
  const marking = zooming ? null : press;
  const key = press ? keyOf(press) : '';
  const drawn = (asked: Asked) => {
    onClose();
    onDraw(asked);
  };
  return (
    <>
      <Sheet open={zooming !== null} onClose={onClose} title={zooming?.action?.label ?? '扩图'}>
        {zooming && <AskZoom key={key} press={zooming} onDraw={drawn} />}
      </Sheet>
      {marking && (
        <MaskScreen
          key={key}
          title={marking.action?.label ?? '局部重绘'}
          image={marking.image}
          onClose={onClose}
        >
          {(mask) => <AskPart press={marking} mask={mask} onDraw={drawn} />}
        </MaskScreen>
      )}
    </>
  );
};

export default PressSheet;
