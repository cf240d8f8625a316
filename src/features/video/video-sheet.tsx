import { errorText } from '#src/platform/api-error.ts';
import { useDraft } from '#src/platform/draft.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { ChipChoice } from '#src/ui/chip-choice.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import type { PickedImage } from '#src/widgets/image/picked-image.ts';
import { useMeasuredImage } from '#src/widgets/image/use-measured-image.ts';
import { pickImages } from '#src/widgets/image/image-picker.ts';
import { smallImage } from '#src/widgets/image/image-sources.ts';
import type { ImageSize } from '#contract/image-size.ts';
import { limits } from '#contract/limits.ts';
import type { Model } from '#contract/model.ts';
import type { SessionDetail } from '#contract/session.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useId, useState } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import css from './video-session.module.css';
import { sendVideo } from './video-make.ts';
import {
  changeVideoDraft,
  motionNames,
  moveNames,
  nearestMotion,
  useVideoDraft,
  videoPrice,
  type VideoDraft,
} from './video-request.ts';

const CropDialog = lazyAsked(() => import('#src/widgets/image/crop-dialog.tsx'));

const { cfgScale, motion } = limits.film;
/** Until there is an image, what moves in the samples. */
const sample = '/samples/plain.webp';

const sizesOf = (model: Model | undefined): ImageSize[] =>
  (model?.video?.sizes ?? []).map((size, code) => {
    const [width = 1, height = 1] = size.split('x').map(Number);
    return { code, width, height };
  });

/** The image that is filmed from, or the place for it. */
const BaseImage = ({
  url,
  onPick,
  onCrop,
  onRemove,
}: {
  /** Empty: none is chosen. */
  url: string;
  onPick: () => void;
  /** Null: it can not be cropped. */
  onCrop: (() => void) | null;
  onRemove: () => void;
}) =>
  url === '' ? (
    <button type="button" className={css.empty} onClick={onPick}>
      <Icon name="plus" size={28} />
      <span>选一张图片</span>
      <small>上传、拍照、粘贴、网址，或自己画过的</small>
    </button>
  ) : (
    <div className={css.base}>
      <img src={smallImage(url, 640)} alt="要动起来的图片" />
      <div className={css.line}>
        <Button onClick={onPick}>换一张</Button>
        {onCrop && <Button onClick={onCrop}>裁剪</Button>}
        <Button kind="ghost" onClick={onRemove}>
          移除
        </Button>
      </div>
    </div>
  );

/** How the film moves: the ways of the camera as they look, and how much. */
const Ways = ({ uuid, draft, chooses }: { uuid: string; draft: VideoDraft; chooses: boolean }) => (
  <>
    {chooses && (
      <div className={css.ways} role="radiogroup" aria-label="镜头">
        {moveNames.map(([move, name]) => (
          <button
            key={name}
            type="button"
            role="radio"
            aria-checked={draft.move === move}
            onClick={() => changeVideoDraft(uuid, { move })}
          >
            <span data-move={move ?? 'own'}>
              <img
                src={draft.base_image === '' ? sample : smallImage(draft.base_image, 180)}
                alt=""
                width={72}
                height={54}
              />
            </span>
            {name}
          </button>
        ))}
      </div>
    )}
    <ChipChoice
      label="动多少"
      value={nearestMotion(draft.motion_bucket_id).value}
      choices={motionNames}
      onChange={(motion_bucket_id) => changeVideoDraft(uuid, { motion_bucket_id })}
    />
  </>
);

/** What is filmed from: an image, how much moves, and how closely the film keeps to it. */
export const VideoSheet = ({
  session,
  model,
  open,
  onClose,
}: {
  session: SessionDetail;
  model: Model | undefined;
  open: boolean;
  onClose: () => void;
}) => {
  const { uuid } = session;
  const acts = useChatActs();
  const draft = useVideoDraft(uuid);
  const [text, setText] = useDraft(uuid);
  const [cropping, setCropping] = useState<PickedImage | null>(null);
  const id = useId();
  const sizes = sizesOf(model);
  const measured = useMeasuredImage(draft.base_image);
  const misfit = (image: PickedImage) =>
    sizes.length > 0 &&
    image.width > 0 &&
    !sizes.some(({ width, height }) => width === image.width && height === image.height);
  const pick = async () => {
    try {
      const [picked] = await pickImages({ max: 1, title: '选择图片' });
      if (!picked) return;
      changeVideoDraft(uuid, { base_image: picked.url });
      if (misfit(picked)) setCropping(picked);
    } catch (error) {
      toast(errorText(error), 'error');
    }
  };
  const begin = () => {
    if (draft.base_image === '') {
      toast('请填入图片', 'error');
      return;
    }
    if (measured && misfit(measured)) {
      setCropping(measured);
      return;
    }
    onClose();
    void sendVideo(uuid, text, model, acts);
  };
  const price = model && videoPrice(model);
  return (
    <>
      <Sheet open={open && cropping === null} onClose={onClose} title="图生视频">
        <div className={css.sheet}>
          <BaseImage
            url={draft.base_image}
            onPick={() => void pick()}
            onCrop={sizes.length > 0 && measured ? () => setCropping(measured) : null}
            onRemove={() => changeVideoDraft(uuid, { base_image: '' })}
          />
          {measured && misfit(measured) && (
            <p className={css.warn} role="status">
              <Icon name="warning" size={18} />
              图片是 {measured.width}×{measured.height}，这个模型只收{' '}
              {model?.video?.sizes.map((size) => size.replace('x', '×')).join('、')}，请先裁剪
            </p>
          )}
          <div className="field">
            <label htmlFor={id}>画面描述（可不填）</label>
            <textarea
              id={id}
              className="text-input"
              rows={2}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </div>
          <Ways uuid={uuid} draft={draft} chooses={model?.video?.moves === true} />
          <details className={css.exact}>
            <summary>精细调整</summary>
            <SliderField
              label="运动幅度"
              hint="小：轻轻地动；大：动得多、动得远"
              min={motion.min}
              max={motion.max}
              value={draft.motion_bucket_id}
              onChange={(motion_bucket_id) => changeVideoDraft(uuid, { motion_bucket_id })}
            />
            <SliderField
              label="忠于原图"
              hint="大：更像原图；小：更自由"
              min={cfgScale.min}
              max={cfgScale.max}
              step={0.1}
              value={draft.cfg_scale}
              show={(value) => value.toFixed(1)}
              onChange={(cfg_scale) => changeVideoDraft(uuid, { cfg_scale })}
            />
          </details>
          <div className={css.begin}>
            <Button kind="primary" onClick={begin}>
              制作视频{price && ` · ${price.words}`}
            </Button>
          </div>
        </div>
      </Sheet>
      {cropping && (
        <CropDialog
          request={cropping}
          sizes={sizes}
          onClose={() => setCropping(null)}
          onDone={(url) => {
            setCropping(null);
            changeVideoDraft(uuid, { base_image: url });
          }}
        />
      )}
    </>
  );
};
