import { useImageMetadata } from '#src/widgets/image/image-metadata.ts';
import { Button } from '#src/ui/button.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { ImageParameters, MadeImage } from '#contract/image.ts';
import { useState } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { ChipChoice } from '#src/ui/chip-choice.tsx';
import { ImageSheet, type ImageSheetProps } from './image-sheet.tsx';
import drawCss from '#src/widgets/image/image-session.module.css';

const factors = [
  { value: 2, label: '2 倍' },
  { value: 4, label: '4 倍' },
] as const;

const Ask = ({
  image,
  price,
  onDraw,
}: {
  image: MadeImage;
  price: string;
  onDraw: (parameters: ImageParameters) => void;
}) => {
  const { model } = useChatActs();
  const [resize, setResize] = useState<2 | 4>(2);
  const [upscaler, setUpscaler] = useState('');
  const metadata = useImageMetadata(model);
  const names = metadata.data?.upscalers ?? [];
  return (
    <div className={drawCss.press}>
      <h3>放大到</h3>
      <ChipChoice label="放大到" value={resize} choices={factors} onChange={setResize} />
      <p className="field-hint tabular">
        {image.width * resize}×{image.height * resize}
      </p>
      <h3>放大算法</h3>
      {metadata.isPending && <Skeleton lines={3} />}
      {metadata.isError && <QueryFailed query={metadata} />}
      {metadata.data && (
        <ChipChoice
          label="放大算法"
          value={upscaler}
          choices={[
            { value: '', label: '默认' },
            ...names.map((name) => ({ value: name, label: name })),
          ]}
          onChange={setUpscaler}
        />
      )}
      <Button
        kind="primary"
        onClick={() => onDraw({ resize, ...(upscaler === '' ? {} : { upscaler }) })}
      >
        高清放大{price !== '' && ` · ${price}`}
      </Button>
    </div>
  );
};

/** Asks how large an image is to be, and by which way of the service. */
const UpscaleSheet = ({ price = '', ...sheet }: ImageSheetProps) => (
  <ImageSheet {...sheet} title="高清放大">
    {(image, draw) => <Ask key={image.uuid} image={image} price={price} onDraw={draw} />}
  </ImageSheet>
);

export default UpscaleSheet;
