import { api } from '#src/platform/api.ts';
import { errorText, isCancelled } from '#src/platform/api-error.ts';
import { setImageBusy } from '#src/widgets/image/image-tool-store.ts';
import { Button } from '#src/ui/button.tsx';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { toast } from '#src/platform/toast.ts';
import { needsTranslation, replaceWords } from '#contract/image-prompt.ts';
import { useCallback, useEffect, useId, useRef, useState } from 'react';
import { useTool } from './tool-context.ts';
import css from './image-tool.module.css';

const steps = ['翻译', '扩写', '译回中文'] as const;
type Step = (typeof steps)[number];

interface Result {
  english: string;
  chinese: string;
  /** What is to be known of how it came about; empty: nothing. */
  note: string;
  /** Where there was nothing to do, or nothing to do it with. */
  skipped: readonly Step[];
}

type Progress =
  | { at: 'idle' }
  | { at: Step }
  | { at: 'done'; result: Result }
  | { at: 'failed'; reason: string };

/** Says which text is which: without a connected model there is but one. */
const Texts = ({ result, onTake }: { result: Result; onTake: (text: string) => void }) => {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // Newer browsers answer with a promise, which an effect must not return.
    list.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const shown = [
    { name: '英文', text: result.english },
    { name: '中文', text: result.chinese },
  ].filter(({ text }, at, all) => text !== '' && (at === 0 || text !== all[0]?.text));
  return (
    <ul className={css.toolResults} aria-label="结果" ref={list}>
      {shown.map(({ name, text }) => (
        <li key={name}>
          <p lang={name === '英文' && !needsTranslation(text) ? 'en' : undefined}>{text}</p>
          <Button size="small" onClick={() => onTake(text)}>
            {shown.length > 1 ? `用${name}` : '用这个'}
          </Button>
        </li>
      ))}
    </ul>
  );
};

const Steps = ({ progress, expand }: { progress: Progress; expand: boolean }) => {
  const { at } = progress;
  const shown = steps.filter((step) => expand || step !== '扩写');
  const place = shown.findIndex((step) => step === at);
  const skipped = at === 'done' ? progress.result.skipped : [];
  return (
    <ol className={css.toolSteps} aria-label="步骤">
      {shown.map((step, index) => (
        <li
          key={step}
          aria-current={step === at ? 'step' : undefined}
          data-done={((at === 'done' || index < place) && !skipped.includes(step)) || undefined}
        >
          {step}
          {skipped.includes(step) && '（跳过）'}
        </li>
      ))}
    </ol>
  );
};

/** Translates, writes out, translates back; tells each step as it begins. */
const help = async (
  words: string,
  expand: boolean,
  signal: AbortSignal,
  onStep: (at: Step) => void,
): Promise<Result> => {
  const options = { signal, quiet: true };
  onStep('翻译');
  const first = await api.translate({ msg: words, cn2en: 1 }, options);
  const stuck = !first.translated && needsTranslation(words);
  let note = stuck ? '没有可用的翻译模型，文字没有翻译。' : '';
  let english = first.result;
  if (expand) {
    onStep('扩写');
    const written = await api.inscriptor({ msg: english }, options);
    english = written.result;
    if (written.library) note = `${note}没有连接聊天模型，由内置词库补充。`;
  }
  onStep('译回中文');
  const back = await api.translate({ msg: english, cn2en: 0 }, options);
  return {
    english,
    chinese: back.translated ? back.result : '',
    note,
    skipped: [
      ...(first.translated ? [] : (['翻译'] as const)),
      ...(back.translated ? [] : (['译回中文'] as const)),
    ],
  };
};

/** The helper at work for a box, whose words are not sent meanwhile. */
const useHelp = (key: string) => {
  const [progress, setProgress] = useState<Progress>({ at: 'idle' });
  const working = useRef<AbortController | null>(null);
  const stop = useCallback(() => {
    working.current?.abort();
    working.current = null;
    setImageBusy(key, false);
  }, [key]);
  useEffect(() => stop, [stop]);
  const start = async (words: string, expand: boolean) => {
    stop();
    const controller = new AbortController();
    working.current = controller;
    setImageBusy(key, true);
    try {
      const result = await help(words, expand, controller.signal, (at) => setProgress({ at }));
      setProgress({ at: 'done', result });
    } catch (error) {
      if (!isCancelled(error)) setProgress({ at: 'failed', reason: errorText(error) });
    } finally {
      if (working.current === controller) stop();
    }
  };
  return {
    progress,
    busy: progress.at !== 'idle' && progress.at !== 'done' && progress.at !== 'failed',
    start: (words: string, expand: boolean) => void start(words, expand),
    stop: () => {
      stop();
      setProgress({ at: 'idle' });
    },
  };
};

/** 提示助手: writes a description out of a few words. */
export const InscriptionTab = () => {
  const { key, text, setText, words, image } = useTool();
  const [expand, setExpand] = useState(true);
  const [before, setBefore] = useState<string | null>(null);
  const { progress, busy, start, stop } = useHelp(key);
  const id = useId();

  const take = (taken: string) => {
    setBefore(text);
    setText(replaceWords(text, image.family, taken));
    toast('已填入描述', 'success');
  };

  return (
    <>
      <div className="field">
        <label className="field-head" htmlFor={id}>
          想画什么
        </label>
        <textarea
          id={id}
          className="text-input"
          rows={3}
          value={text}
          disabled={busy}
          placeholder="用一句话说说画面，例如：一只猫坐在窗边看雪"
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <SwitchField
        label="扩写成完整的描述"
        hint="补上光线、构图和画风；关掉只做翻译"
        checked={expand}
        disabled={busy}
        onChange={setExpand}
      />
      <Steps progress={progress} expand={expand} />
      <div className={css.toolLine}>
        {busy ? (
          <Button onClick={stop}>停止</Button>
        ) : (
          <Button
            kind="primary"
            disabled={words.prompt === ''}
            onClick={() => start(words.prompt, expand)}
          >
            {progress.at === 'failed' ? '重试' : expand ? '翻译并扩写' : '翻译'}
          </Button>
        )}
        {before !== null && !busy && (
          <Button
            onClick={() => {
              setText(before);
              setBefore(null);
            }}
          >
            恢复原来的描述
          </Button>
        )}
      </div>
      <p className={css.toolNote} role="status">
        {busy && `正在${progress.at}…完成之前不能发送`}
        {progress.at === 'failed' && progress.reason}
        {progress.at === 'done' && progress.result.note}
      </p>
      {progress.at === 'done' && <Texts result={progress.result} onTake={take} />}
    </>
  );
};
