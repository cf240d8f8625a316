import { familyRules } from '#contract/image-family.ts';
import { styleOf } from '#contract/image-prompt.ts';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { Choices } from './choices.tsx';
import { SampleImage } from './shape-image.tsx';
import { useTool, type ToolState } from './tool-context.ts';

/** The styles that a model knows by name, and the one it takes by itself; none: it has no such choice. */
export const stylesFor = ({
  image,
  parameters,
  metadata,
}: Pick<ToolState, 'image' | 'parameters' | 'metadata'>): {
  styles: readonly { name: string; label: string }[];
  usual: string;
} => {
  const { midjourney, dalle, cloud } = familyRules;
  if (image.family === 'midjourney')
    return { styles: parameters.is_niji ? midjourney.nijiStyles : midjourney.styles, usual: '' };
  if (image.family === 'dalle') return { styles: dalle.styles, usual: dalle.style };
  if (image.family === 'cloud') return { styles: cloud.styles, usual: '' };
  return { styles: metadata.data?.styles ?? [], usual: '' };
};

export const StyleTab = () => {
  const state = useTool();
  const { image, parameters, setParameters, metadata } = state;
  const { styles, usual } = stylesFor(state);
  const style = image.family === 'midjourney' ? styleOf(parameters) : (parameters.style ?? usual);
  // Of what is drawn here it is known how it looks.
  const sample = (name: string) =>
    image.family === 'built-in' ? { image: <SampleImage name={name} /> } : {};
  if (styles.length === 0 && metadata.isPending) return <Skeleton lines={4} />;
  return (
    <Choices
      label="风格"
      hint={
        image.family === 'midjourney'
          ? parameters.is_niji
            ? '动漫模型的四种风格'
            : '“原始”少一些模型自己的修饰；动漫模型（在参数里选）另有四种'
          : undefined
      }
      value={style}
      choices={[
        ...(usual === '' ? [{ value: '', label: '不指定', ...sample('plain') }] : []),
        ...styles.map(({ name, label }) => ({ value: name, label, ...sample(`style-${name}`) })),
      ]}
      onChange={(name) => setParameters({ style: name === usual ? undefined : name })}
    />
  );
};
