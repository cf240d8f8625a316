import { isMisfit, takeAsBase } from '#src/widgets/image/base-image.ts';
import { useMeasuredImage } from '#src/widgets/image/use-measured-image.ts';
import { pickImages } from '#src/widgets/image/image-picker.ts';
import { AnyImage } from '#src/widgets/image/foreign-image.tsx';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import {
  defaultStrength,
  familyRules,
  takesResizeMode,
  takesStrength,
} from '#contract/image-family.ts';
import { sizesOf } from '#contract/image-size.ts';
import { limits } from '#contract/limits.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { Choices } from './choices.tsx';
import { ImageSlots } from './image-slots.tsx';
import { ResizeImage } from './shape-image.tsx';
import { useTool } from './tool-context.ts';
import css from './image-tool.module.css';

const CropDialog = lazyAsked(() => import('#src/widgets/image/crop-dialog.tsx'));

export const Img2ImgTab = () => {
  const state = useTool();
  const { key, model, image, words, draft, change, parameters, setParameters } = state;
  const { cropping, setCropping } = state;
  const url = draft.base_image ?? '';
  const measured = useMeasuredImage(url);
  const midjourney = image.family === 'midjourney';
  // Services that take the image as it is have no say in either: what would do nothing is not shown.
  const strengthSent = takesStrength(image.family);
  const resized = takesResizeMode(image.family);
  const pick = async () => {
    const [picked] = await pickImages({ max: 1, title: '选择参考图' });
    if (picked) takeAsBase(key, model, picked);
  };
  const blend = parameters.blend?.map((each) => each.url) ?? [];
  const blending = url === '' && image.abilities.includes('blend');
  const slots = blending && (
    <ImageSlots
      label="融图图片"
      hint={`选 ${limits.blend.min} 到 ${limits.blend.max} 张，合成一张新的画；描述可以不写`}
      urls={blend}
      max={limits.blend.max}
      onChange={(urls) =>
        setParameters({
          blend: urls.length === 0 ? undefined : urls.map((each) => ({ url: each })),
        })
      }
    />
  );
  if (blending && blend.length > 0) return slots;
  return (
    <>
      {url === '' ? (
        <button
          type="button"
          className={`${css.toolBase} ${css.toolBaseEmpty}`}
          onClick={() => void pick()}
        >
          <Icon name="plus" size={28} />
          <span>选一张参考图</span>
          <small>上传、拍照、粘贴、网址，或自己画过的</small>
        </button>
      ) : (
        <div className={css.toolBase}>
          <AnyImage url={url} side={640} alt="参考图" />
          <div className={css.toolLine}>
            <Button onClick={() => void pick()}>换一张</Button>
            {!midjourney && (
              <Button busy={measured === null} onClick={() => setCropping(measured)}>
                裁剪
              </Button>
            )}
            <Button kind="ghost" onClick={() => change({ base_image: undefined })}>
              移除
            </Button>
          </div>
        </div>
      )}
      {slots}
      {measured && isMisfit(image, measured) && (
        <p className={css.toolWarn} role="status">
          <Icon name="warning" size={18} />
          图片是 {measured.width}×{measured.height}
          ，不在这个模型的尺寸里，请先裁剪{resized ? '；不裁剪会按缩放方式处理' : ''}
        </p>
      )}
      {words.baseImage !== '' && <p className="field-hint">描述开头的网址会作为参考图。</p>}
      {strengthSent && (
        <SliderField
          label="重绘幅度"
          hint={midjourney ? '越大越不像原图' : '越小越像原图，越大越自由'}
          min={familyRules.strength.min}
          max={familyRules.strength.max}
          value={draft.strength ?? defaultStrength(image.family)}
          show={(value) => `${value}%`}
          onChange={(strength) => change({ strength })}
        />
      )}
      {resized && (
        <Choices
          label="缩放方式"
          hint="参考图与要画的尺寸形状不同时"
          value={draft.resize_mode ?? 0}
          choices={familyRules.resizeModes.map(({ mode, label }) => ({
            value: mode as number,
            label,
            image: <ResizeImage mode={mode} />,
          }))}
          onChange={(mode) => change({ resize_mode: mode === 0 ? undefined : mode })}
        />
      )}
      {cropping && (
        <CropDialog
          request={cropping}
          sizes={sizesOf(image)}
          onClose={() => setCropping(null)}
          onDone={(next, size) => {
            setCropping(null);
            change({ base_image: next, size: size.code });
          }}
        />
      )}
    </>
  );
};
