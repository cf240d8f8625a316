import { familyRules } from '#contract/image-family.ts';
import { sizeFor, sizesOf } from '#contract/image-size.ts';
import { aspectName } from '#src/widgets/image/aspect-name.ts';
import { requestOf } from '#src/widgets/image/image-draft.ts';
import { SliderField } from '#src/ui/slider-field.tsx';
import { Choices } from './choices.tsx';
import { ShapeImage } from './shape-image.tsx';
import { useTool } from './tool-context.ts';

const ratioOf = (aspect: string): { width: number; height: number } => {
  const [width = 1, height = 1] = aspect.split(':').map(Number);
  return { width, height };
};

const Aspects = () => {
  const { parameters, setParameters } = useTool();
  const { aspects, aspect: usual } = familyRules.midjourney;
  return (
    <Choices
      label="画面比例"
      value={parameters.aspect ?? usual}
      choices={aspects.map((aspect: string) => {
        const shape = ratioOf(aspect);
        return {
          value: aspect,
          label: aspect,
          hint: aspectName(shape.width, shape.height).split(' ')[0],
          image: <ShapeImage {...shape} />,
        };
      })}
      onChange={(aspect) => setParameters({ aspect: aspect === usual ? undefined : aspect })}
    />
  );
};

const Sizes = () => {
  const { image, draft, change } = useTool();
  return (
    <Choices
      label="图片尺寸"
      value={sizeFor(image, draft.size ?? 3).code}
      choices={sizesOf(image).map(({ code, width, height }) => ({
        value: code,
        label: `${width}×${height}`,
        hint: aspectName(width, height),
        image: <ShapeImage width={width} height={height} />,
      }))}
      onChange={(size) => change({ size })}
    />
  );
};

export const SizeTab = () => {
  const { model, image, draft, change } = useTool();
  const request = requestOf(draft, model);
  const alone = image.family === 'sd3' && request.base_image !== '';
  return (
    <>
      {image.family === 'midjourney' ? <Aspects /> : <Sizes />}
      {image.family === 'midjourney' ? (
        <p className="field-hint">Midjourney 每次画 4 张。</p>
      ) : image.max_count > 1 && !alone ? (
        <SliderField
          label="张数"
          min={1}
          max={image.max_count}
          value={request.n}
          show={(value) => `${value} 张`}
          hint={
            draft.n === undefined && request.n < image.default_count
              ? `通常画 ${image.default_count} 张，余额够画 ${request.n} 张`
              : undefined
          }
          onChange={(n) => change({ n })}
        />
      ) : (
        <p className="field-hint">
          {alone ? '用参考图时这个模型一次画 1 张。' : '这个模型一次画 1 张。'}
        </p>
      )}
    </>
  );
};
