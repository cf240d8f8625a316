import type { Out } from '@contract/calls.ts';
import css from './manage-model.module.css';

type Preset = Out<'channelPresets'>['list'][number];

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
          {preset.kind === 'openai-compatible'
            ? preset.models
                .slice(0, 2)
                .map(({ name }) => name)
                .join('、') || (preset.base_url ? '本机的模型' : '自己填地址')
            : preset.kind === 'stability'
              ? '视频'
              : '画图'}
        </small>
      </button>
    ))}
  </div>
);
