import { Button } from '#src/ui/button.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import { useLine } from '#src/platform/line.ts';
import type { PostFormOptions } from '#src/platform/post-form.ts';
import { useAct } from '#src/platform/use-act.ts';
import { toast } from '#src/platform/toast.ts';
import { uuid } from '#src/platform/uuid.ts';
import { useRef, useState } from 'react';
import Cropper, { type Area } from 'react-easy-crop';
import 'react-easy-crop/react-easy-crop.css';
import css from './profile-tab.module.css';

/** Pixels of an avatar. */
const side = 400;
const zoom = { min: 100, max: 300 };

/** The chosen square of the image, as JPEG. */
const cut = async (url: string, area: Area): Promise<Blob> => {
  const loaded = new Image();
  loaded.src = url;
  await loaded.decode();
  const canvas = document.createElement('canvas');
  canvas.width = side;
  canvas.height = side;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('no canvas');
  context.imageSmoothingQuality = 'high';
  context.drawImage(loaded, area.x, area.y, area.width, area.height, 0, 0, side, side);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('no image'))),
      'image/jpeg',
      0.9,
    );
  });
};

const AvatarCrop = ({
  url,
  onDone,
  onClose,
}: {
  url: string;
  onDone: (image: Blob, options: PostFormOptions) => Promise<void>;
  onClose: () => void;
}) => {
  const [crop, setCrop] = useState({ x: 0, y: 0 });
  const [scale, setScale] = useState(zoom.min);
  const [area, setArea] = useState<Area | null>(null);
  const { busy, run } = useAct(() => toast('这张图片读不出来，请换一张 jpg 或 png', 'error'));
  const line = useLine();
  const [part, setPart] = useState(0);
  /** What was sent: the same once more goes under the same key. */
  const sent = useRef<{ area: Area; image: Blob; key: string }>(null);
  const [stop] = useState(() => new AbortController());
  const take = async () => {
    if (!area) return;
    await run(async () => {
      setPart(0);
      if (sent.current?.area !== area)
        sent.current = { area, image: await cut(url, area), key: uuid() };
      const { image, key } = sent.current;
      await onDone(image, {
        idempotencyKey: key,
        signal: stop.signal,
        onProgress: setPart,
        outlasts: true,
      });
    });
  };
  const close = () => {
    stop.abort();
    onClose();
  };
  const what = line === 'gone' ? '现在没有网络' : '网络没有回应';
  return (
    <Sheet open onClose={close} title="选取头像">
      <div className={css.crop}>
        <Cropper
          image={url}
          crop={crop}
          zoom={scale / 100}
          aspect={1}
          cropShape="round"
          showGrid={false}
          onCropChange={setCrop}
          onZoomChange={(next) => setScale(Math.round(next * 100))}
          onCropComplete={(_, pixels) => setArea(pixels)}
        />
      </div>
      <SliderField
        label="放大"
        {...zoom}
        value={scale}
        show={(value) => `${value}%`}
        onChange={setScale}
      />
      <Button kind="primary" busy={busy} onClick={() => void take()}>
        {busy
          ? `正在上传${part > 0 && part < 1 ? ` ${Math.floor(part * 100)}%` : '…'}`
          : '使用这张'}
      </Button>
      {busy && line !== 'well' && (
        <p className="field-hint" role="status">
          {what}，图片留在这里，连上后自动上传
        </p>
      )}
    </Sheet>
  );
};

export default AvatarCrop;
