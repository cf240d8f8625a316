import { useState, type ReactNode } from 'react';
import { api } from '#src/platform/api.ts';
import { steady, useCall } from '#src/platform/call-query.ts';
import { copyMade } from '#src/platform/copy.ts';
import { useImageMetadata } from '#src/widgets/image/image-metadata.ts';
import { useInterrogateWays } from '#src/widgets/image/interrogate-ways.ts';
import { BackgroundChoice, firstBackground } from '#src/widgets/image/background-choice.tsx';
import { Button } from '#src/ui/button.tsx';
import type { FormValues } from '#src/ui/form/field.ts';
import { useFormDraft } from '#src/ui/form/form-draft.ts';
import { ChipChoice } from '#src/ui/chip-choice.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import type { ImageInfo } from '#contract/gallery.ts';
import type { Job } from '#contract/job.ts';
import { takesStrength } from '#contract/image-family.ts';
import { limits } from '#contract/limits.ts';
import { useModel, useSettings } from '#src/platform/queries.ts';
import { useDraftPrice } from '#src/widgets/image/draft-price.ts';
import { draftWithSettings } from '#src/widgets/image/image-draft.ts';
import { isEmpty, maskParameters } from './mask.ts';
import { MaskTools, type MaskTool } from './mask-editor.tsx';
import { likeImage, useStartFrom } from './start-from.ts';
import type { MaskHistory } from './use-mask.ts';
import styles from './viewer.module.css';

export type Tool = ImageInfo['tools'][number];

interface PanelProps {
  info: ImageInfo;
  tool: Tool;
  busy: boolean;
  /** Asks for it; whoever shows the panel follows the job. */
  onBegin: (begin: () => Promise<{ job: Job }>) => void;
}

const priceWords = (tokens: number): string => (tokens === 0 ? '免费' : `${tokens} tokens`);

const Submit = ({
  label,
  tool,
  busy,
  tokens = tool.tokens,
  disabled = false,
  onPress,
  children,
}: {
  label: string;
  tool: Tool;
  busy: boolean;
  tokens?: number;
  disabled?: boolean;
  onPress: () => void;
  /** Another way to it, below. */
  children?: ReactNode;
}) => (
  <div className={styles['submit']}>
    <Button kind="primary" busy={busy} disabled={disabled} onClick={onPress}>
      {label} · {priceWords(tokens)}
    </Button>
    <small>{tool.model_label}</small>
    {children}
  </div>
);

const factors = [
  { value: 2, label: '2 倍' },
  { value: 4, label: '4 倍' },
] as const;

export const UpscalePanel = ({ info, tool, busy, onBegin }: PanelProps) => {
  const [resize, setResize] = useState<2 | 4>(2);
  const [upscaler, setUpscaler] = useState('');
  const metadata = useImageMetadata(tool.model);
  const names = metadata.data?.upscalers ?? [];
  const [width = 0, height = 0] = info.size.split('x').map(Number);
  return (
    <>
      <ChipChoice label="放大到" value={resize} choices={factors} onChange={setResize} />
      <p className={styles['note']}>
        {width}×{height} 放大成 {width * resize}×{height * resize}
      </p>
      {names.length > 1 && (
        <ChipChoice
          label="放大算法"
          value={upscaler}
          choices={[
            { value: '', label: '默认算法' },
            ...names.map((name) => ({ value: name, label: name })),
          ]}
          onChange={setUpscaler}
        />
      )}
      <Submit
        label="高清放大"
        tool={tool}
        busy={busy}
        onPress={() =>
          onBegin(() =>
            api.upscaleImage({
              image_id: info.id,
              painter: tool.model,
              resize,
              ...(upscaler === '' ? {} : { model: upscaler }),
            }),
          )
        }
      />
    </>
  );
};

export const RemoveBackgroundPanel = ({ info, tool, busy, onBegin }: PanelProps) => (
  <>
    <p className={styles['note']}>留下主体，背景变成透明，存为 png。</p>
    <Submit
      label="抠图"
      tool={tool}
      busy={busy}
      onPress={() =>
        onBegin(() => api.removeImageBackground({ image_id: info.id, painter: tool.model }))
      }
    />
  </>
);

export const BackgroundPanel = ({
  info,
  tool,
  busy,
  onBegin,
  part,
  onPart,
}: PanelProps & {
  /** Only what this frame holds is changed; null: all of it. */
  part: { left: number; top: number; width: number; height: number } | null;
  /** One wants to frame a part, or all of it after all. */
  onPart: (framing: boolean) => void;
}) => {
  const [background, setBackground] = useState(firstBackground);
  const [framing, setFraming] = useState(false);
  return (
    <>
      <p className={styles['note']}>主体留下，背景换成一种颜色或另一张图片。</p>
      <BackgroundChoice value={background} onChange={setBackground} small>
        <Button
          size="small"
          aria-pressed={framing}
          onClick={() => {
            setFraming(!framing);
            onPart(!framing);
          }}
        >
          只换框里的
        </Button>
      </BackgroundChoice>
      <Submit
        label="换背景"
        tool={tool}
        busy={busy}
        disabled={framing && part === null}
        onPress={() =>
          onBegin(() =>
            api.editImageBackground({
              image_id: info.id,
              painter: tool.model,
              method: 'editBg',
              ...(framing && part ? { mask: part } : {}),
              ...background,
            }),
          )
        }
      />
    </>
  );
};

/** How many, and what one of them costs. */
const Count = ({ n, tool, onChange }: { n: number; tool: Tool; onChange: (n: number) => void }) =>
  tool.n > 1 ? (
    <ChipChoice
      label="几张"
      value={n}
      choices={Array.from({ length: tool.n }, (_, at) => ({
        value: at + 1,
        label: `${at + 1} 张`,
      }))}
      onChange={onChange}
    />
  ) : null;

/** What was said in a panel; the tool may have changed since. */
const saidIn = ({ prompt, strength, n }: FormValues, tool: Tool) => ({
  prompt: String(prompt),
  strength: Number(strength),
  n: Math.min(Number(n), tool.n),
});

const costOf = (tool: Tool, n: number): number => Math.ceil((tool.tokens / tool.n) * n);

const Words = ({
  value,
  label,
  placeholder,
  onChange,
}: {
  value: string;
  label: string;
  placeholder: string;
  onChange: (value: string) => void;
}) => (
  <textarea
    className={styles['prompt']}
    rows={2}
    value={value}
    maxLength={limits.imageEditPrompt.max}
    aria-label={label}
    placeholder={placeholder}
    onChange={(event) => onChange(event.target.value)}
  />
);

export const VariationsPanel = ({ info, tool, busy, onBegin }: PanelProps) => {
  const start = useStartFrom();
  const priceOf = useDraftPrice();
  const settings = useSettings();
  const kept = useFormDraft(`variations.${info.id}`, {
    prompt: info.whole_prompt.slice(0, limits.imageEditPrompt.max),
    strength: limits.strength.otherwise,
    n: tool.n,
  });
  const { prompt, strength, n } = saidIn(kept.values, tool);
  const model = useModel(tool.model);
  const words = prompt.trim();
  const elsewhere = { ...likeImage(info), strength, n };
  const said = words === '' ? '画几张与它相似的图片' : words;
  return (
    <>
      <Words
        value={prompt}
        label="再来几张的提示词"
        placeholder="想变成什么样（可以不写）"
        onChange={(next) => kept.set({ ...kept.values, prompt: next })}
      />
      {takesStrength(model?.image?.family ?? 'built-in') && (
        <SliderField
          label="重绘幅度"
          min={1}
          max={100}
          value={strength}
          show={(value) => `${value}%`}
          onChange={(next) => kept.set({ ...kept.values, strength: next })}
        />
      )}
      <Count n={n} tool={tool} onChange={(next) => kept.set({ ...kept.values, n: next })} />
      <Submit
        label="再来几张"
        tool={tool}
        tokens={costOf(tool, n)}
        busy={busy}
        disabled={words.length === 1}
        onPress={() =>
          onBegin(async () => {
            const begun = await api.editImage({
              image_id: info.id,
              painter: tool.model,
              method: 'variations',
              prompt: words,
              strength,
              n,
            });
            kept.drop();
            return begun;
          })
        }
      >
        {model && (
          <Button
            kind="ghost"
            disabled={busy || words.length === 1}
            onClick={() => void start.vary(elsewhere, said, model.name)}
          >
            到新会话里画 · {priceOf(draftWithSettings(elsewhere, settings), said, model).words}
          </Button>
        )}
      </Submit>
    </>
  );
};

export const EditPanel = ({
  info,
  tool,
  busy,
  onBegin,
  history,
  maskTool,
  thick,
  onMaskTool,
  onThick,
}: PanelProps & {
  history: MaskHistory;
  maskTool: MaskTool;
  thick: number;
  onMaskTool: (tool: MaskTool) => void;
  onThick: (thick: number) => void;
}) => {
  const kept = useFormDraft(`edit.${info.id}`, { prompt: '', n: tool.n });
  const { prompt, n } = saidIn(kept.values, tool);
  const [said, setSaid] = useState('');
  const { mask } = history;
  const [width = 1, height = 1] = info.size.split('x').map(Number);
  const submit = () => {
    const words = prompt.trim();
    const { min, max } = limits.imageEditPrompt;
    if (isEmpty(mask)) return setSaid('请先在图片上标出要修改的地方');
    if (words === '') return setSaid('请填写修改图片的提示内容');
    if (words.length < min || words.length > max) return setSaid(`长度在 ${min} 到 ${max} 个字符`);
    setSaid('');
    return onBegin(async () => {
      const begun = await api.editImage({
        image_id: info.id,
        painter: tool.model,
        method: 'edit',
        prompt: words,
        n,
        ...maskParameters(mask, { width, height }),
      });
      kept.drop();
      return begun;
    });
  };
  return (
    <>
      <MaskTools
        history={history}
        tool={maskTool}
        thick={thick}
        onTool={onMaskTool}
        onThick={onThick}
      />
      <Words
        value={prompt}
        label="修改图片的提示内容"
        placeholder="标出的地方要变成什么"
        onChange={(next) => kept.set({ ...kept.values, prompt: next })}
      />
      {said !== '' && (
        <p role="alert" className={styles['alert']}>
          {said}
        </p>
      )}
      <Count n={n} tool={tool} onChange={(next) => kept.set({ ...kept.values, n: next })} />
      <Submit label="重绘" tool={tool} tokens={costOf(tool, n)} busy={busy} onPress={submit} />
    </>
  );
};

const Told = ({ name, text, onUse }: { name: string; text: string; onUse: () => void }) =>
  text === '' ? null : (
    <section className={styles['words']}>
      <h3>{name}</h3>
      <p className="selectable">{text}</p>
      <div className={styles['row']}>
        <Button size="small" onClick={() => void copyMade(text)}>
          复制
        </Button>
        <Button size="small" kind="primary" onClick={onUse}>
          用它画图
        </Button>
      </div>
    </section>
  );

export const InterrogatePanel = ({ info }: { info: ImageInfo }) => {
  const { ways, priceOf } = useInterrogateWays();
  const [chosen, setWay] = useState('');
  const way = chosen === '' ? (ways[0]?.value ?? '') : chosen;
  const price = priceOf(way);
  // What costs something waits for a press.
  const [asked, setAsked] = useState<readonly string[]>([]);
  const start = useStartFrom();
  const told = useCall(
    'interrogateImage',
    { image_id: info.id, model: way },
    { ...steady, enabled: way !== '' && (price === 0 || asked.includes(way)), retry: false },
  );
  const use = (text: string) => void start.textToImage(text, info);
  return (
    <>
      {ways.length > 1 && (
        <ChipChoice label="用什么看" value={way} choices={ways} onChange={setWay} />
      )}
      {told.fetchStatus === 'idle' && told.isPending && (
        <div className={styles['submit']}>
          <Button kind="primary" onClick={() => setAsked([...asked, way])}>
            反推提示词 · 约 {price} tokens
          </Button>
          <small>看图不收费，译成中文由聊天模型做</small>
        </div>
      )}
      {told.isFetching && told.isPending && <Skeleton lines={5} />}
      {told.isError && <QueryFailed query={told} />}
      {told.data && (
        <>
          <Told name="中文" text={told.data.result_cn} onUse={() => use(told.data.result_cn)} />
          <Told name="英文" text={told.data.result} onUse={() => use(told.data.result)} />
          <p className={styles['note']}>
            {told.data.engine} 看的{told.data.translated ? '，中文由聊天模型翻译' : ''}
          </p>
        </>
      )}
    </>
  );
};
