import { useSettings } from '#src/platform/queries.ts';
import { aspectName } from '#src/widgets/image/aspect-name.ts';
import { takeAsBase } from '#src/widgets/image/base-image.ts';
import { ImageChoices } from '#src/widgets/image/image-choices.tsx';
import {
  changeImageDraft,
  changeImageParameters,
  draftWithSettings,
  requestOf,
  useImageDraft,
} from '#src/widgets/image/image-draft.ts';
import { ImageIdeas } from '#src/widgets/image/image-ideas.tsx';
import { useImageMetadata } from '#src/widgets/image/image-metadata.ts';
import { pickImages } from '#src/widgets/image/image-picker.ts';
import { smallImage } from '#src/widgets/image/image-sources.ts';
import { Icon } from '#src/ui/icon.tsx';
import { sizeFor } from '#contract/image-size.ts';
import type { Model } from '#contract/model.ts';
import { useState } from 'react';
import css from './studio.module.css';

/** Of the built-in canvas it is known how each of its styles looks. */
const Styles = ({ model }: { model: Model }) => {
  const [{ parameters }] = useImageDraft('home');
  const { data } = useImageMetadata(model.name);
  const chosen = parameters?.style ?? '';
  if (!data || data.styles.length === 0) return null;
  return (
    <div className={css.styles} role="radiogroup" aria-label="风格">
      {[{ name: '', label: '不指定' }, ...data.styles].map(({ name, label }) => (
        <button
          key={name}
          type="button"
          role="radio"
          aria-checked={name === chosen}
          onClick={() => changeImageParameters('home', { style: name || undefined })}
        >
          <img
            src={`/samples/${name === '' ? 'plain' : `style-${name}`}.webp`}
            width={44}
            height={44}
            alt=""
            loading="lazy"
          />
          <span>{label}</span>
        </button>
      ))}
    </div>
  );
};

/** Below home's box while images are to be drawn: what they are made with, and images to try. */
export default function Studio({
  model,
  onIdea,
}: {
  model: Model;
  onIdea: (prompt: string) => void;
}) {
  const [draft, change] = useImageDraft('home');
  const [choosing, setChoosing] = useState(false);
  const { image } = model;
  const request = requestOf(draftWithSettings(draft, useSettings()), model);
  if (!image) return null;
  const { width, height } = sizeFor(image, request.size);
  const pick = async () => {
    const [picked] = await pickImages({ max: 1, title: '选择参考图' });
    if (picked) takeAsBase('home', model, picked);
  };
  return (
    <div className={css.studio}>
      <div className={css.with}>
        <button type="button" className="chip" onClick={() => setChoosing(true)}>
          {aspectName(width, height) || `${width}×${height}`} · {request.n} 张
          <Icon name="down" size={14} />
        </button>
        {request.base_image === '' ? (
          <button type="button" className="chip" onClick={() => void pick()}>
            <Icon name="plus" size={16} />
            参考图
          </button>
        ) : (
          <button
            type="button"
            className="chip chip-on"
            aria-label="不用参考图"
            onClick={() => changeImageDraft('home', { base_image: undefined })}
          >
            <img
              className={css.base}
              src={smallImage(request.base_image, 128)}
              width={24}
              height={24}
              alt=""
            />
            参考图
            <Icon name="close" size={14} />
          </button>
        )}
      </div>
      {image.family === 'built-in' && <Styles model={model} />}
      <h3>试试这些</h3>
      <ImageIdeas
        onChoose={(prompt, style) => {
          if (image.family === 'built-in')
            changeImageParameters('home', { style: style || undefined });
          onIdea(prompt);
        }}
      />
      <p className={css.by}>示例由内置画板画成，点一下就填进上面</p>
      <ImageChoices
        open={choosing}
        model={model}
        request={request}
        onChange={change}
        onClose={() => setChoosing(false)}
      />
    </div>
  );
}
