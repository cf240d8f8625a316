import { useState } from 'react';
import { needsTranslation } from '#contract/image-prompt.ts';
import { translationDeduction } from '#contract/price.ts';
import { api } from '#src/platform/api.ts';
import { copyText } from '#src/platform/copy.ts';
import { useDraft } from '#src/platform/draft.ts';
import { useWriter } from '#src/platform/queries.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { Chip } from '#src/ui/chip.tsx';
import { Icon } from '#src/ui/icon.tsx';
import css from './text-translator.module.css';

/** As many characters at once as the call takes. */
const most = 20_000;
const languages = ['英文', '中文'] as const;

/** Text on the left, its translation on the right: the language is found, the price said before. */
export const TextTranslator = () => {
  const [text, setText] = useDraft('translate');
  const [turned, setTurned] = useState(false);
  const [made, setMade] = useState<{ of: string; text: string; translated: boolean } | null>(null);
  const { busy, run } = useAct();
  const writer = useWriter();
  const words = text.trim();
  // Chinese is put into English, all else into Chinese, unless it is turned.
  const intoEnglish = needsTranslation(words) !== turned;
  const [from, to] = intoEnglish ? [languages[1], languages[0]] : languages;
  const cost = writer
    ? translationDeduction({ factor: writer.factor, promptFactor: writer.prompt_factor }, words)
    : 0;
  const price =
    words === '' ? '' : cost === 0 ? ' · 免费' : ` · 约 ${cost.toLocaleString('zh-CN')} tokens`;
  const translate = () =>
    run(async () => {
      const { result, translated } = await api.translate({
        msg: words,
        cn2en: intoEnglish ? 1 : 0,
      });
      setMade({ of: words, text: result, translated });
    });
  const fits = words !== '' && !busy;
  return (
    <section className={css.translator} aria-label="翻译文字">
      <header className={css.bar}>
        <span>{words === '' ? '自动识别语言' : from}</span>
        <Chip
          aria-label="交换方向"
          title="交换方向"
          onClick={() => {
            // What was translated is what one goes on with.
            if (made?.translated && made.of === words) setText(made.text);
            else setTurned(!turned);
            setMade(null);
          }}
        >
          <Icon name="sort" size={16} />
        </Chip>
        <span>{words === '' ? '中文 ⇄ 英文' : to}</span>
      </header>
      <div className={css.panes}>
        <div className={css.pane}>
          <textarea
            value={text}
            maxLength={most}
            aria-label="原文"
            placeholder="输入或粘贴文字"
            onChange={(event) => {
              setText(event.target.value);
              if (event.target.value.trim() === '') setTurned(false);
            }}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && fits)
                void translate();
            }}
          />
          {text !== '' && (
            <Button
              kind="ghost"
              size="icon"
              className={css.clear}
              aria-label="清空"
              onClick={() => {
                setText('');
                setTurned(false);
                setMade(null);
              }}
            >
              <Icon name="close" size={18} />
            </Button>
          )}
          <footer className={css.foot}>
            <small className="tabular">
              {text.length.toLocaleString('zh-CN')} / {most.toLocaleString('zh-CN')}
            </small>
            <Button
              kind="primary"
              size="small"
              busy={busy}
              disabled={!fits}
              onClick={() => void translate()}
            >
              {busy ? '正在翻译…' : `翻译${price}`}
            </Button>
          </footer>
        </div>
        <div className={css.pane} data-result aria-live="polite" aria-busy={busy}>
          {made === null ? (
            <p className={css.none}>译文会在这里</p>
          ) : (
            <>
              {!made.translated && (
                <p className={css.none}>
                  还没有连接模型，文字没有翻译。管理员连接一个模型后就能翻译。
                </p>
              )}
              <p className={`${css.result} selectable`} data-old={made.of !== words || undefined}>
                {made.translated ? made.text : ''}
              </p>
              {made.translated && (
                <footer className={css.foot}>
                  <small>{made.of === words ? '' : '原文改过了'}</small>
                  <Button size="small" onClick={() => void copyText(made.text)}>
                    复制译文
                  </Button>
                </footer>
              )}
            </>
          )}
        </div>
      </div>
    </section>
  );
};
