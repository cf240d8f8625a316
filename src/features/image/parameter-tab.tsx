import { limits } from '#contract/limits.ts';
import { familyRules } from '#contract/image-family.ts';
import { styleOf, versionOf } from '#contract/image-prompt.ts';
import type { ImageParameters } from '#contract/image.ts';
import { Button } from '#src/ui/button.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { useId, useState } from 'react';
import { Choices } from './choices.tsx';
import { ImageSlots } from './image-slots.tsx';
import { useTool } from './tool-context.ts';
import css from './image-tool.module.css';

const midjourney = familyRules.midjourney;

/** A value that is the usual one is not kept: what the draft holds was chosen. */
const chosen = <T,>(value: T, usual: T): T | undefined => (value === usual ? undefined : value);

const SeedField = () => {
  const { parameters, setParameters } = useTool();
  const id = useId();
  return (
    <div className="field">
      <div className="field-head">
        <label htmlFor={id}>随机种子</label>
        <output htmlFor={id}>{parameters.seed === undefined ? '每次随机' : '固定'}</output>
      </div>
      <p className="field-hint">同样的描述、参数与种子会画出同样的图</p>
      <div className={css.toolLine}>
        <input
          id={id}
          className="text-input"
          inputMode="numeric"
          placeholder="随机"
          maxLength={10}
          value={parameters.seed ?? ''}
          onChange={(event) => {
            const digits = event.target.value.replaceAll(/\D/g, '');
            const seed = Math.min(4_294_967_295, Number(digits));
            setParameters({ seed: digits === '' ? undefined : seed });
          }}
        />
        {parameters.seed === undefined ? (
          <Button
            onClick={() => setParameters({ seed: Math.floor(Math.random() * 4_294_967_295) })}
          >
            换一个
          </Button>
        ) : (
          <Button onClick={() => setParameters({ seed: undefined })}>恢复随机</Button>
        )}
      </div>
    </div>
  );
};

type Slider = keyof typeof midjourney.ranges;

const MidjourneySlider = ({
  name,
  label,
  hint,
  show,
}: {
  name: Slider;
  label: string;
  hint?: string;
  show?: (value: number) => string;
}) => {
  const { parameters, setParameters } = useTool();
  const range = midjourney.ranges[name];
  const set = (value: number): ImageParameters => ({ [name]: chosen(value, range.default) });
  return (
    <SliderField
      label={label}
      hint={hint}
      min={range.min}
      max={range.max}
      value={parameters[name] ?? range.default}
      show={show}
      onChange={(value) => setParameters(set(value))}
    />
  );
};

const References = () => {
  const { parameters, setParameters, draft } = useTool();
  const listed = (urls: string[]) => (urls.length === 0 ? undefined : urls.map((url) => ({ url })));
  const characters = parameters.cref?.map(({ url }) => url) ?? [];
  const styles = parameters.sref?.map(({ url }) => url) ?? [];
  return (
    <>
      <ImageSlots
        label="角色参考图"
        hint="画出来的人物会像它们"
        urls={characters}
        max={limits.styleReferences}
        onChange={(urls) => setParameters({ cref: listed(urls) })}
      />
      {characters.length > 0 && (
        <MidjourneySlider name="cw" label="角色相似度" hint="0 只像脸，100 连同头发与衣服" />
      )}
      <ImageSlots
        label="风格参考图"
        hint="画面的色彩与笔触会像它们"
        urls={styles}
        max={limits.styleReferences}
        onChange={(urls) => setParameters({ sref: listed(urls) })}
      />
      {styles.length === 0 && (
        <SwitchField
          label="随机风格"
          hint="由模型随意选一种风格"
          checked={parameters.random_style === true}
          onChange={(on) => setParameters({ random_style: on || undefined })}
        />
      )}
      {(styles.length > 0 || parameters.random_style) && (
        <>
          <MidjourneySlider name="sw" label="风格强度" />
          <Choices
            label="风格版本"
            value={parameters.style_version ?? 0}
            choices={[
              { value: 0, label: '默认' },
              ...midjourney.styleVersions.map((value) => ({ value, label: `版本 ${value}` })),
            ]}
            onChange={(version) => setParameters({ style_version: version || undefined })}
          />
        </>
      )}
      {(draft.base_image ?? '') !== '' && (
        <MidjourneySlider
          name="weight"
          label="垫图权重"
          hint="越大越像参考图"
          show={(value) => (value / 100).toFixed(2)}
        />
      )}
    </>
  );
};

const MidjourneyParameters = () => {
  const { parameters, setParameters } = useTool();
  const niji = parameters.is_niji === true;
  const chooseModel = (anime: boolean) => {
    const next = { ...parameters, is_niji: anime || undefined };
    const version = versionOf(next);
    setParameters({
      is_niji: next.is_niji,
      version: chosen(version, midjourney.version),
      style: styleOf(next) || undefined,
    });
  };
  return (
    <>
      <Choices
        label="模型"
        value={niji ? 'niji' : 'usual'}
        choices={[
          { value: 'usual', label: '通用' },
          { value: 'niji', label: '动漫（niji）' },
        ]}
        onChange={(value) => chooseModel(value === 'niji')}
      />
      <Choices
        label="版本"
        hint={niji ? '动漫模型没有 5.1 与 5.2' : undefined}
        value={versionOf(parameters)}
        choices={midjourney.versions.map((value) => ({
          value,
          label: value,
          disabled: niji && !(midjourney.nijiVersions as readonly string[]).includes(value),
        }))}
        onChange={(value) => setParameters({ version: chosen(value, midjourney.version) })}
      />
      <Choices
        label="质量"
        hint="越低越快"
        value={parameters.quality ?? midjourney.quality}
        choices={midjourney.qualities.map((value) => ({ value, label: value }))}
        onChange={(value) => setParameters({ quality: chosen(value, midjourney.quality) })}
      />
      <MidjourneySlider name="stylize" label="风格化" hint="越大越有艺术感，越小越贴近描述" />
      <MidjourneySlider name="chaos" label="变化" hint="越大，四张图之间差别越大" />
      <MidjourneySlider name="weird" label="奇异" />
      <MidjourneySlider
        name="stop"
        label="提前停止"
        hint="停得早，画面更朦胧"
        show={(value) => `${value}%`}
      />
      <SwitchField
        label="无缝平铺"
        hint="上下左右可以拼接的图案"
        checked={parameters.tile === true}
        onChange={(on) => setParameters({ tile: on || undefined })}
      />
      <References />
      <SeedField />
    </>
  );
};

const Sampler = () => {
  const { metadata, parameters, setParameters } = useTool();
  const samplers = metadata.data?.samplers ?? [];
  const [all, setAll] = useState(false);
  if (samplers.length === 0) return null;
  const shown = all ? samplers : samplers.slice(0, 8);
  return (
    <>
      <Choices
        label="采样方法"
        value={parameters.sampler ?? ''}
        choices={[{ value: '', label: '默认' }, ...shown.map((value) => ({ value, label: value }))]}
        onChange={(sampler) => setParameters({ sampler: sampler || undefined })}
      />
      {shown.length < samplers.length && (
        <Button kind="ghost" onClick={() => setAll(true)}>
          其余 {samplers.length - shown.length} 种
        </Button>
      )}
    </>
  );
};

const DiffusionParameters = () => {
  const { parameters, setParameters } = useTool();
  const { steps, cfg_scale: scale } = familyRules.diffusion.ranges;
  return (
    <>
      <SliderField
        label="步数"
        hint="越多越细致，也越慢"
        min={steps.min}
        max={steps.max}
        value={parameters.steps ?? steps.default}
        onChange={(value) => setParameters({ steps: chosen(value, steps.default) })}
      />
      <SliderField
        label="贴近描述的程度"
        hint="CFG：太大容易过于生硬"
        min={scale.min}
        max={scale.max}
        value={parameters.cfg_scale ?? scale.default}
        onChange={(value) => setParameters({ cfg_scale: chosen(value, scale.default) })}
      />
      <Sampler />
    </>
  );
};

const CloudParameters = () => {
  const { parameters, setParameters } = useTool();
  return (
    <>
      <SwitchField
        label="由模型润色提示词"
        hint="画之前把描述写得更细"
        checked={parameters.revise !== false}
        onChange={(on) => setParameters({ revise: on ? undefined : false })}
      />
      <SwitchField
        label="加上“AI 生成”标识"
        checked={parameters.logo_add === true}
        onChange={(on) => setParameters({ logo_add: on || undefined })}
      />
    </>
  );
};

const DalleParameters = () => {
  const { parameters, setParameters } = useTool();
  return (
    <SwitchField
      label="高清（HD）"
      hint="细节更多，画得更慢"
      checked={parameters.hd === true}
      onChange={(on) => setParameters({ hd: on || undefined })}
    />
  );
};

/** What a family's images are made with beside the words; its tab is there where there is any. */
export const ParameterTab = () => {
  const { image } = useTool();
  const { family, abilities } = image;
  if (family === 'midjourney') return <MidjourneyParameters />;
  return (
    <>
      {family === 'stable-diffusion' && <DiffusionParameters />}
      {family === 'cloud' && <CloudParameters />}
      {family === 'dalle' && <DalleParameters />}
      {abilities.includes('seed') && <SeedField />}
    </>
  );
};
