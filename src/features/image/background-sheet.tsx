import { pickImages } from '@/widgets/image/image-picker.ts';
import { AnyImage } from '@/widgets/image/foreign-image.tsx';
import { Button } from '@/ui/button.tsx';
import type { ImageParameters } from '@contract/image.ts';
import { useId, useState } from 'react';
import { ImageSheet, type ImageSheetProps } from './image-sheet.tsx';

const colours = [
  { value: '#ffffff', label: '白' },
  { value: '#111827', label: '黑' },
  { value: '#c8261b', label: '红' },
  { value: '#438edb', label: '证件照蓝' },
  { value: '#f5d565', label: '黄' },
  { value: '#9fd8b4', label: '绿' },
] as const;

const Fill = ({
  price,
  onDraw,
}: {
  price: string;
  onDraw: (parameters: ImageParameters) => void;
}) => {
  const [colour, setColour] = useState<string>(colours[0].value);
  const [ground, setGround] = useState('');
  const id = useId();
  const pick = async () => {
    const [picked] = await pickImages({ max: 1, title: '选择背景图片' });
    if (picked) setGround(picked.url);
  };
  return (
    <div className="press">
      <p className="field-hint">主体留下，背景换成一种颜色或另一张图片。</p>
      <div className="ground-colours" role="radiogroup" aria-label="背景颜色">
        {colours.map(({ value, label }) => (
          <button
            key={value}
            type="button"
            role="radio"
            aria-checked={ground === '' && colour === value}
            aria-label={label}
            title={label}
            style={{ background: value }}
            onClick={() => {
              setColour(value);
              setGround('');
            }}
          />
        ))}
        <label className="ground-own" htmlFor={id}>
          其他颜色
          <input
            id={id}
            type="color"
            value={colour}
            onChange={(event) => {
              setColour(event.target.value);
              setGround('');
            }}
          />
        </label>
      </div>
      <div className="ground-picture">
        {ground !== '' && <AnyImage url={ground} side={128} alt="背景图片" />}
        <Button onClick={() => void pick()}>{ground === '' ? '用一张图片' : '换一张'}</Button>
      </div>
      <Button
        kind="primary"
        onClick={() => onDraw(ground === '' ? { bg_color: colour } : { bg_image: ground })}
      >
        换背景{price !== '' && ` · ${price}`}
      </Button>
    </div>
  );
};

/** Asks what a picture's background is to be. */
const BackgroundSheet = ({ price = '', ...sheet }: ImageSheetProps) => (
  <ImageSheet {...sheet} title="换背景">
    {(picture, draw) => <Fill key={picture.uuid} price={price} onDraw={draw} />}
  </ImageSheet>
);

export default BackgroundSheet;
