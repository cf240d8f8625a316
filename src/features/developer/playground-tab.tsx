import { useDraft } from '#src/platform/draft.ts';
import { useChatModels } from '#src/platform/queries.ts';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { Markdown } from '#src/widgets/markdown/markdown.tsx';
import { yuanOfMillion } from '#contract/goods.ts';
import { useState } from 'react';
import { LanguageTabs } from './language-tabs.tsx';
import css from './api.module.css';
import { askApi, type Told } from './ask-api.ts';
import { languages } from './call-code.ts';
import { AnswerBox, SendRow } from './call-parts.tsx';
import { useFreshKey } from './fresh-key.ts';
import { KeyChoice } from './key-choice.tsx';
import { useApiCall } from './use-api-call.ts';

interface Wish {
  model: string;
  system: string;
  question: string;
  /** Empty: as the model has it. */
  temperature: string;
  most: string;
  stream: boolean;
}

const numberIn = (text: string): number | undefined => {
  const value = Number(text);
  return text.trim() === '' || Number.isNaN(value) ? undefined : value;
};

const bodyOf = ({ model, system, question, temperature, most, stream }: Wish) => ({
  model,
  messages: [
    ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: question },
  ],
  ...(numberIn(temperature) === undefined ? {} : { temperature: numberIn(temperature) }),
  ...(numberIn(most) === undefined ? {} : { max_tokens: numberIn(most) }),
  ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
});

const Prices = ({ name }: { name: string }) => {
  const model = useChatModels().data?.find((each) => each.name === name);
  if (!model) return null;
  const prompt = model.prompt_factor ?? model.factor;
  const cached = Math.min(prompt, model.cached_factor ?? prompt);
  if (prompt === 0 && model.factor === 0) return <p className={css.hint}>这个模型免费。</p>;
  return (
    <p className={css.hint}>
      每 100 万 tokens：提问 {yuanOfMillion(prompt)} 元（×{prompt}
      ），缓存命中 {yuanOfMillion(cached)} 元（×{cached}），回答 {yuanOfMillion(model.factor)} 元（×
      {model.factor}）；按不打折的余额价算。
    </p>
  );
};

const detail = (usage: Told['usage'], of: string, part: string): number => {
  const details = usage?.[of] as Record<string, unknown> | undefined;
  const value = details?.[part];
  return typeof value === 'number' ? value : 0;
};

const Answer = ({ told }: { told: Told }) => {
  const { usage } = told;
  const cached = detail(usage, 'prompt_tokens_details', 'cached_tokens');
  const thought = detail(usage, 'completion_tokens_details', 'reasoning_tokens');
  return (
    <AnswerBox
      status={told.status === 0 ? '…' : String(told.status)}
      took={`${told.firstMs > 0 ? `首字 ${told.firstMs} ms，` : ''}共 ${told.ms} ms`}
      text={told.text || told.failure}
    >
      <div className={css.told}>
        {told.failure !== '' && <p className={css.fault}>{told.failure}</p>}
        {told.thought !== '' && (
          <details>
            <summary>思考过程</summary>
            <p>{told.thought}</p>
          </details>
        )}
        {told.text !== '' && <Markdown text={told.text} />}
        {usage && (
          <p className={css.hint}>
            提问 {String(usage['prompt_tokens'])} tokens{cached > 0 && `（缓存 ${cached}）`}，回答{' '}
            {String(usage['completion_tokens'])} tokens{thought > 0 && `（思考 ${thought}）`}
            {told.yuan !== null && `，${told.yuan} 元`}
          </p>
        )}
      </div>
      <details className={css.refused}>
        <summary>原样的回答</summary>
        <pre>{told.raw}</pre>
      </details>
    </AnswerBox>
  );
};

/** A chat to try with one's own key: what is asked, what comes, and the code that does the same. */
export const PlaygroundTab = () => {
  const models = useChatModels().data ?? [];
  const key = useFreshKey();
  const [question, setQuestion] = useDraft('playground');
  const [wish, setWish] = useState<Omit<Wish, 'question'>>({
    model: '',
    system: '',
    temperature: '',
    most: '',
    stream: true,
  });
  const [at, setAt] = useState(0);
  const [told, setTold] = useState<Told | null>(null);
  const call = useApiCall();
  const model = wish.model || models[0]?.name || 'builtin-assistant';
  const asked = question.trim() === '' ? '你好，用一句话介绍自己' : question;
  const body = bodyOf({ ...wish, model, question: asked });
  const shown = languages[at] ?? languages[0];
  const set = (more: Partial<typeof wish>) => setWish({ ...wish, ...more });

  const send = () =>
    call.run((signal) => {
      setTold(null);
      return askApi({ key, body, signal }, setTold);
    });

  return (
    <div className={css.tabBody}>
      <div className={css.filled}>
        <label>
          <span>模型</span>
          <select value={model} onChange={(event) => set({ model: event.target.value })}>
            {models.map(({ name, label }) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <KeyChoice />
      </div>
      <Prices name={model} />
      <div className={css.filled}>
        <label>
          <span>系统提示（可以不填）</span>
          <textarea
            rows={2}
            value={wish.system}
            onChange={(event) => set({ system: event.target.value })}
          />
        </label>
        <label>
          <span>问题</span>
          <textarea
            rows={2}
            placeholder="你好，用一句话介绍自己"
            value={question}
            onChange={(event) => setQuestion(event.target.value)}
          />
        </label>
        <label>
          <span>temperature（0 到 2）</span>
          <input
            type="text"
            inputMode="decimal"
            placeholder="模型的默认值"
            value={wish.temperature}
            onChange={(event) => set({ temperature: event.target.value })}
          />
        </label>
        <label>
          <span>max_tokens</span>
          <input
            type="text"
            inputMode="numeric"
            placeholder="不限"
            value={wish.most}
            onChange={(event) => set({ most: event.target.value })}
          />
        </label>
      </div>
      <SwitchField
        label="逐段返回（stream）"
        checked={wish.stream}
        onChange={(stream) => set({ stream })}
      />
      <SendRow call={call} onSend={() => void send()} />
      {told && <Answer told={told} />}
      <LanguageTabs languages={languages} at={at} onChoose={setAt} />
      <div className={css.code} data-testid="playground-code">
        <Markdown
          text={`\`\`\`${shown.language}\n${shown.code({
            origin: location.origin,
            key: key || '您的 API-KEY',
            body,
          })}\n\`\`\``}
        />
      </div>
    </div>
  );
};
