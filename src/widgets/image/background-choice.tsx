import { Button } from '#src/ui/button.tsx';
import { useState, type ReactNode } from 'react';
import { ColourDots } from '#src/ui/colour-dots/colour-dots.tsx';
import css from './background-choice.module.css';
import { AnyImage } from './foreign-image.tsx';
import { pickImages } from './image-picker.ts';

/** What an image's background is to be, as the calls take it. */
export type Background = { bg_color: string } | { bg_image: string };

const colours = [
  { value: '#ffffff', label: '白', colour: '#ffffff' },
  { value: '#111827', label: '黑', colour: '#111827' },
  { value: '#c8261b', label: '红', colour: '#c8261b' },
  { value: '#438edb', label: '证件照蓝', colour: '#438edb' },
  { value: '#f5d565', label: '黄', colour: '#f5d565' },
  { value: '#9fd8b4', label: '绿', colour: '#9fd8b4' },
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
      <ColourDots
        label="背景颜色"
        value={ground === '' ? colour : ''}
        own={colour}
        choices={colours}
        onChange={choose}
      />
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
