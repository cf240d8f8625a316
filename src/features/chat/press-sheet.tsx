import { BrushPicker, paintedOver } from '@/shared/image/brush-picker.tsx';
import { middleOf, RegionPicker } from '@/shared/image/region-picker.tsx';
import type { Stroke } from '@/shared/image/strokes.ts';
import { Button } from '@/shared/ui/button.tsx';
import { Sheet } from '@/shared/ui/sheet.tsx';
import { SliderField } from '@/shared/ui/slider-field.tsx';
import { toast } from '@/shared/ui/toast.ts';
import { limits } from '@contract/limits.ts';
import type { ImageAction, MadeImage } from '@contract/image.ts';
import { useId, useState } from 'react';
import { ChipChoice } from './chip-choice.tsx';
import { usePriceOf } from './picture-price.ts';
import { followUp, wordsOf, type Asked } from './picture-request.ts';

/** What is done with a picture once the person has said more. */
export interface Press {
  asked: Asked;
  picture: MadeImage;
  /** A service's button; null: the model's own way to draw a part anew. */
  action: ImageAction | null;
}

/** A frame, or any shape painted with a brush. */
type Way = 'frame' | 'brush';
const ways: readonly { value: Way; label: string }[] = [
  { value: 'frame', label: '框选' },
  { value: 'brush', label: '涂抹' },
];

const zoom = { min: 100, max: 200 };
const { min: fewest, max: most } = limits.imageEditPrompt;

const refusalOf = (words: string): string => {
  if (words === '') return '请填写修改图片的提示内容';
  return words.length < fewest || words.length > most ? `长度在 ${fewest} 到 ${most} 个字符` : '';
};

const Ask = ({ press, onDraw }: { press: Press; onDraw: (asked: Asked) => void }) => {
  const { asked, picture, action } = press;
  const byZoom = action?.asks === 'zoom';
  const [words, setWords] = useState(() => wordsOf(asked));
  const [way, setWay] = useState<Way>('frame');
  const [mask, setMask] = useState(() => middleOf(picture));
  const [strokes, setStrokes] = useState<readonly Stroke[]>([]);
  const painting = !byZoom && way === 'brush';
  const [far, setFar] = useState(150);
  const id = useId();
  const parameters = {
    ...(action ? { action } : {}),
    ...(byZoom ? { zoom: far } : painting ? paintedOver(strokes, picture) : { mask }),
  };
  const next = followUp(action ? 'action' : 'edit', { asked, picture, parameters });
  const price = usePriceOf()(next);
  const draw = () => {
    const prompt = words.trim();
    const unpainted = painting && strokes.length === 0 ? '请先涂出要重画的地方' : '';
    const refusal = byZoom ? '' : unpainted || refusalOf(prompt);
    if (refusal !== '') {
      toast(refusal, 'error');
      return;
    }
    // The region is measured in the picture that it lies in.
    const image = byZoom ? next.image : { ...next.image, base_image: picture.url };
    onDraw({ ...next, prompt, image });
  };
  return (
    <div className="press">
      {byZoom ? (
        <SliderField
          label="视野扩大到"
          hint="原图留在中间，四周接着画出来"
          min={zoom.min}
          max={zoom.max}
          step={5}
          value={far}
          show={(value) => `${(value / 100).toFixed(2)} 倍`}
          onChange={setFar}
        />
      ) : (
        <>
          <ChipChoice label="怎样选要重画的地方" value={way} choices={ways} onChange={setWay} />
          <p className="field-hint">
            {painting
              ? '涂满要重画的地方，其余保持原样。'
              : '在图上拖出要重画的地方，其余保持原样。'}
          </p>
          {painting ? (
            <BrushPicker picture={picture} strokes={strokes} onChange={setStrokes} />
          ) : (
            <RegionPicker picture={picture} region={mask} onChange={setMask} />
          )}
        </>
      )}
      <div className="field">
        <div className="field-head">
          <label htmlFor={id}>{byZoom ? '画面描述' : '这里画什么'}</label>
          <output htmlFor={id}>{words.trim().length} 字</output>
        </div>
        <textarea
          id={id}
          className="text-input"
          rows={2}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      </div>
      <Button kind="primary" onClick={draw}>
        {byZoom ? '扩图' : '重画这块'}
        {price && ` · ${price.words}`}
      </Button>
    </div>
  );
};

/** Asks for what a button needs before it is pressed: a part of the picture, or how far to draw back. */
const PressSheet = ({
  press,
  onClose,
  onDraw,
}: {
  /** Null: closed. */
  press: Press | null;
  onClose: () => void;
  onDraw: (asked: Asked) => void;
}) => (
  <Sheet open={press !== null} onClose={onClose} title={press?.action?.label ?? '局部重画'}>
    {press && (
      <Ask
        key={`${press.picture.uuid} ${press.action?.hash ?? ''}`}
        press={press}
        onDraw={(asked) => {
          onClose();
          onDraw(asked);
        }}
      />
    )}
  </Sheet>
);

export default PressSheet;
