import css from './manage-model.module.css';
import { chats, type Preset } from './service-draft.ts';

const makes: Readonly<
  Record<Exclude<Preset['kind'], 'openai-compatible' | 'anthropic' | 'gemini'>, string>
> = {
  'stable-diffusion-webui': '画图',
  midjourney: '画图',
  stability: '视频',
  embedding: '把文字变成向量',
  replicate: '训练画风',
  searxng: '自己的搜索服务',
  bocha: '联网搜索',
  tavily: '联网搜索',
  brave: '联网搜索',
  'json-search': '任何给 JSON 的搜索',
};

/** Well-known services that do not answer questions. */
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
                .join('、')
            : makes[preset.kind]}
        </small>
      </button>
    ))}
  </div>
);
