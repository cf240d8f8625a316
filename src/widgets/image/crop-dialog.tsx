import { Chip } from '#src/ui/chip.tsx';
import { useAct } from '#src/platform/use-act.ts';
import { api } from '#src/platform/api.ts';
import { errorText } from '#src/platform/api-error.ts';
import { carryLabel } from '#src/platform/attach/carry-label.ts';
import type { PickedImage } from './picked-image.ts';
import { Button } from '#src/ui/button.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import { toast } from '#src/platform/toast.ts';
import { closestSize, type ImageSize } from '#contract/image-size.ts';
import { useState } from 'react';
import Cropper, { type Area } from 'react-easy-crop';
import 'react-easy-crop/react-easy-crop.css';
import css from './crop-dialog.module.css';

const loaded = (url: string): Promise<HTMLImageElement> =>
  new Promise((resolve, reject) => {
    const image = new Image();
    image.addEventListener('load', () => resolve(image));
    image.addEventListener('error', () => reject(new Error('the image cannot be read')));
    image.src = url;
  });

const dataUrl = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(new Error('the image cannot be read')));
    reader.readAsDataURL(blob);
  });

/** The part of the image, at the size's pixels, as JPEG in a data URL. */
const cut = async (url: string, area: Area, size: ImageSize): Promise<string> => {
  const image = await loaded(url);
  const canvas = document.createElement('canvas');
  canvas.width = size.width;
  canvas.height = size.height;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('no canvas');
  context.imageSmoothingQuality = 'high';
  const { x, y, width, height } = area;
  context.drawImage(image, x, y, width, height, 0, 0, size.width, size.height);
  const jpeg = await new Promise<Blob>((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('no image'))),
      'image/jpeg',
      0.92,
    );
  });
  // The file of an own image says who made it; what is cut out of it says so, too.
  return dataUrl(await carryLabel(await (await fetch(url)).blob(), jpeg));
};

/** Own images can be read by a canvas; others are brought to this server first. */
const readable = async (url: string): Promise<string> =>
  url.startsWith('/') ? url : (await api.imageByUrl({ url }, { quiet: true })).image.url;

const zoom = { min: 100, max: 300 };

const Crop = ({
  request,
  sizes,
  onDone,
}: {
  request: PickedImage;
  sizes: readonly ImageSize[];
  onDone: (url: string, size: ImageSize) => void;
}) => {
  const { url, width, height } = request;
  const [size, setSize] = useState(() => closestSize(sizes, width, height) ?? sizes[0]);
  const [crop, setCrop] = useState({ x: 0, y: 0 });
  const [scale, setScale] = useState<number>(zoom.min);
  const [area, setArea] = useState<Area | null>(null);
  const { busy, run } = useAct((error) => toast(`裁剪失败：${errorText(error)}`, 'error'));
  if (!size) return null;
  const take = async () => {
    if (!area) return;
    await run(async () => {
      const image = await cut(await readable(url), area, size);
      const stored = await api.croppingImage({ image }, { quiet: true });
      onDone(stored.image.url, size);
    });
  };
  return (
    <div className={css.crop}>
      <p className="field-hint">
        图片是 {width}×{height}，这个模型要用下面的尺寸。拖动图片，选出要用的部分。
      </p>
      <div className={css.area}>
        <Cropper
          image={url}
          crop={crop}
          zoom={scale / 100}
          minZoom={zoom.min / 100}
          maxZoom={zoom.max / 100}
          aspect={size.width / size.height}
          showGrid
          onCropChange={setCrop}
          onZoomChange={(next) => setScale(Math.round(next * 100))}
          onCropComplete={(_, pixels) => setArea(pixels)}
        />
      </div>
      <SliderField
        label="缩放"
        min={zoom.min}
        max={zoom.max}
        value={scale}
        show={(value) => `${value}%`}
        onChange={setScale}
      />
      <div className={css.sizes} role="radiogroup" aria-label="裁成">
        {sizes.map((each) => (
          <Chip
            key={each.code}
            role="radio"
            aria-checked={each.code === size.code}
            onClick={() => setSize(each)}
          >
            {each.width}×{each.height}
          </Chip>
        ))}
      </div>
      <div className={css.acts}>
        <Button kind="primary" busy={busy || !area} onClick={() => void take()}>
          {busy ? '正在裁剪…' : '裁剪'}
        </Button>
      </div>
    </div>
  );
};

/** Brings an image to one of the model's sizes. */
const CropDialog = ({
  request,
  sizes,
  onClose,
  onDone,
}: {
  /** Null: closed. */
  request: PickedImage | null;
  sizes: readonly ImageSize[];
  onClose: () => void;
  onDone: (url: string, size: ImageSize) => void;
}) => (
  <Sheet open={request !== null} onClose={onClose} title="裁剪图片">
    {request && <Crop key={request.url} request={request} sizes={sizes} onDone={onDone} />}
  </Sheet>
);

export default CropDialog;
