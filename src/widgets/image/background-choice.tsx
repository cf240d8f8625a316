import { Button } from '#src/ui/button.tsx';
import { useId, useState, type ReactNode } from 'react';
import css from './background-choice.module.css';
import { AnyImage } from './foreign-image.tsx';
import { pickImages } from './image-picker.ts';

/** What an image's background is to be, as the calls take it. */
export type Background = { bg_color: string } | { bg_image: string };

const colours = [
  { value: '#ffffff', label: '白' },
  { value: '#111827', label: '黑' },
  { value: '#c8261b', label: '红' },
  { value: '#438edb', label: '证件照蓝' },
  { value: '#f5d565', label: '黄' },
  { value: '#9fd8b4', label: '绿' },
] as const;

/** What is chosen at first. */
export const firstBackground: Background = { bg_color: colours[0].value };

/** A colour or an image to stand behind what an image is of. */
export const BackgroundChoice = ({
  value,
  onChange,
  small = false,
  children,
}: {
  value: Background;
  onChange: (background: Background) => void;
  /** Its buttons are small. */
  small?: boolean;
  /** Stands beside the button for an image. */
  children?: ReactNode;
}) => {
  const [colour, setColour] = useState<string>(colours[0].value);
  const id = useId();
  const ground = 'bg_image' in value ? value.bg_image : '';
  const choose = (next: string) => {
    setColour(next);
    onChange({ bg_color: next });
  };
  const pick = async () => {
    const [picked] = await pickImages({ max: 1, title: '选择背景图片' });
    if (picked) onChange({ bg_image: picked.url });
  };
  return (
    <>
      <div className={css.colours} role="radiogroup" aria-label="背景颜色">
        {colours.map((each) => (
          <button
            key={each.value}
            type="button"
            role="radio"
            aria-checked={ground === '' && colour === each.value}
            aria-label={each.label}
            title={each.label}
            style={{ background: each.value }}
            onClick={() => choose(each.value)}
          />
        ))}
        <label className={css.own} htmlFor={id}>
          其他颜色
          <input
            id={id}
            type="color"
            value={colour}
            onChange={(event) => choose(event.target.value)}
          />
        </label>
      </div>
      <div className={css.image}>
        {ground !== '' && <AnyImage url={ground} side={128} alt="背景图片" />}
        <Button size={small ? 'small' : 'normal'} onClick={() => void pick()}>
          {ground === '' ? '用一张图片' : '换一张'}
        </Button>
        {children}
      </div>
    </>
  );
};
