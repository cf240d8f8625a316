import type { Out } from '#contract/calls.ts';
import { chats } from './service-form.tsx';
import css from './manage-model.module.css';

type Preset = Out<'channelPresets'>['list'][number];

const makes: Readonly<
  Record<Exclude<Preset['kind'], 'openai-compatible' | 'anthropic' | 'gemini'>, string>
> = {
  'stable-diffusion-webui': '画图',
  midjourney: '画图',
  stability: '视频',
  embedding: '把文字变成向量',
  replicate: '训练画风',
};

/** The well-known services to begin with. */
export const Presets = ({
  list,
  onChoose,
}: {
  list: readonly Preset[];
  onChoose: (preset: Preset) => void;
}) => (
  <div className={css.presets}>
    {list.map((preset) => (
      <button
        key={preset.key}
        type="button"
        className={css.preset}
        onClick={() => onChoose(preset)}
      >
        <strong>{preset.label}</strong>
        <small>
          {chats(preset.kind)
            ? preset.models
                .slice(0, 2)
                .map(({ name }) => name)
                .join('、') || (preset.base_url ? '本机的模型' : '自己填地址')
            : makes[preset.kind]}
        </small>
      </button>
    ))}
  </div>
);
