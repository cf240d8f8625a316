import { useState } from 'react';
import { aspectName } from '#src/widgets/image/aspect-name.ts';
import { ImageChoices } from '#src/widgets/image/image-choices.tsx';
import { changeImageDraft } from '#src/widgets/image/image-draft.ts';
import { sizeFor } from '#contract/image-size.ts';
import type { ImageRequest } from '#contract/chat.ts';
import type { Model } from '#contract/model.ts';
import boxCss from '#src/widgets/composer/send.module.css';

/** How many images are made at once, and how large or of what aspect. */
export const SizeChoice = ({
  uuid,
  model,
  request,
  onAspect,
}: {
  uuid: string;
  model: Model | undefined;
  request: ImageRequest;
  /** Opens what chooses an aspect, where the model knows no sizes. */
  onAspect: () => void;
}) => {
  const [open, setOpen] = useState(false);
  const choose = () => setOpen(true);
  const midjourney = model?.image?.family === 'midjourney';
  const { aspect = '1:1' } = request.parameters;
  const size = model?.image && sizeFor(model.image, request.size);
  const measure = size && `${size.width}×${size.height}`;
  return (
    <>
      <button
        type="button"
        className={boxCss.sendModel}
        disabled={midjourney}
        title={midjourney ? '这个模型每次固定画 4 张' : '一次画几张'}
        aria-label={`张数：${request.n}`}
        onClick={choose}
      >
        {request.n} 张
      </button>
      {midjourney ? (
        <button
          type="button"
          className={boxCss.sendModel}
          aria-label={`比例：${aspect}`}
          onClick={onAspect}
        >
          {aspect}
        </button>
      ) : (
        <button
          type="button"
          className={boxCss.sendModel}
          aria-label={`尺寸：${size ? `${measure}，${aspectName(size.width, size.height)}` : '默认'}`}
          onClick={choose}
        >
          {measure ?? '尺寸'}
        </button>
      )}
      <ImageChoices
        open={open}
        model={model}
        request={request}
        onChange={(change) => changeImageDraft(uuid, change)}
        onClose={() => setOpen(false)}
      />
    </>
  );
};
