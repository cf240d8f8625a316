import { Button } from '#src/ui/button.tsx';
import { BackgroundChoice, firstBackground } from '#src/widgets/image/background-choice.tsx';
import type { ImageParameters } from '#contract/image.ts';
import { useState } from 'react';
import { ImageSheet, type ImageSheetProps } from './image-sheet.tsx';
import drawCss from '#src/widgets/image/image-session.module.css';

const Fill = ({
  price,
  onDraw,
}: {
  price: string;
  onDraw: (parameters: ImageParameters) => void;
}) => {
  const [background, setBackground] = useState(firstBackground);
  return (
    <div className={drawCss.press}>
      <p className="field-hint">主体留下，背景换成一种颜色或另一张图片。</p>
      <BackgroundChoice value={background} onChange={setBackground} />
      <Button kind="primary" onClick={() => onDraw(background)}>
        换背景{price !== '' && ` · ${price}`}
      </Button>
    </div>
  );
};

/** Asks what an image's background is to be. */
const BackgroundSheet = ({ price = '', ...sheet }: ImageSheetProps) => (
  <ImageSheet {...sheet} title="换背景">
    {(image, draw) => <Fill key={image.uuid} price={price} onDraw={draw} />}
  </ImageSheet>
);

export default BackgroundSheet;
