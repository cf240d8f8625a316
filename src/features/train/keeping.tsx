import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { useDraft } from '#src/platform/draft.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { knowledgeLimits } from '#contract/train-limits.ts';
import { useState } from 'react';
import css from './train.module.css';

const PairForm = ({
  modelId,
  asked,
  onDone,
}: {
  modelId: number;
  asked: string;
  onDone: () => void;
}) => {
  const [draft, setDraft] = useDraft(`pair-question:${modelId}`);
  const [answer, setAnswer] = useDraft(`pair-answer:${modelId}`);
  const [own, setOwn] = useState(asked);
  const question = asked === '' ? draft : own;
  const setQuestion = asked === '' ? setDraft : setOwn;
  const { busy, run } = useAct();
  const add = async () => {
    if (!(await run(() => api.addPair({ model_id: modelId, question, answer }), '已添加'))) return;
    setDraft('');
    setAnswer('');
    onDone();
  };
  return (
    <form
      className={css.step}
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <label className={css.keptField}>
        问题
        <input
          value={question}
          maxLength={knowledgeLimits.pairQuestion}
          onChange={(event) => setQuestion(event.target.value)}
        />
      </label>
      <label className={css.keptField}>
        回答
        <textarea
          className={css.keptText}
          rows={6}
          value={answer}
          maxLength={knowledgeLimits.pairAnswer}
          onChange={(event) => setAnswer(event.target.value)}
        />
      </label>
      <Button
        type="submit"
        kind="primary"
        busy={busy}
        disabled={question.trim() === '' || answer.trim() === ''}
      >
        添加
      </Button>
    </form>
  );
};

const Addresses = ({ modelId }: { modelId: number }) => {
  const [url, setUrl] = useDraft(`address:${modelId}`);
  const { busy, run } = useAct();
  const watches = useCall('watchList', { model_id: modelId }).data?.list ?? [];
  const add = async () => {
    if (await run(() => api.addAddress({ model_id: modelId, url }), '读到了，正在学习')) setUrl('');
  };
  return (
    <section className={css.section} aria-label="网址">
      <h2>网址</h2>
      <form
        className={css.ask}
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <input
          inputMode="url"
          value={url}
          maxLength={knowledgeLimits.address}
          placeholder="https:// 公开的网页、文本或 PDF"
          aria-label="网址"
          onChange={(event) => setUrl(event.target.value)}
        />
        <Button type="submit" busy={busy} disabled={url.trim() === ''}>
          添加网址
        </Button>
      </form>
      <ul className={css.files}>
        {watches.map((watch) => (
          <li key={watch.file_id} className={css.kept} data-off={!watch.live}>
            <a href={watch.url} target="_blank" rel="noopener noreferrer nofollow">
              {watch.url}
            </a>
            <small>
              {watch.live ? '每天读一次' : '已停止'} · 上次读到 {relativeTime(watch.read_at)}
            </small>
            {watch.changed_at && (
              <small>
                {relativeTime(watch.changed_at)}变了：{watch.changed}
              </small>
            )}
            {watch.error !== '' && <small className={css.wrong}>{watch.error}</small>}
            <div className={css.acts}>
              <Button
                size="small"
                busy={busy}
                onClick={() => void run(() => api.setWatch({ file_id: watch.file_id, live: true }))}
              >
                {watch.live ? '现在读' : '恢复'}
              </Button>
              {watch.live && (
                <Button
                  size="small"
                  busy={busy}
                  onClick={() =>
                    void run(() => api.setWatch({ file_id: watch.file_id, live: false }), '已停止')
                  }
                >
                  不再读
                </Button>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
};

/** What the owner of a base keeps beside its files: answers, addresses, and what was not found. */
export const Keeping = ({ modelId }: { modelId: number }) => {
  const [asked, setAsked] = useState<string | null>(null);
  const { busy, run } = useAct();
  const gaps = useCall('gapList', { model_id: modelId }).data?.list ?? [];
  return (
    <>
      <section className={css.section} aria-label="问答">
        <div className={css.sectionHead}>
          <h2>问答</h2>
          <Button onClick={() => setAsked('')}>添加问答</Button>
        </div>
        <p className={css.note}>
          {gaps.length === 0
            ? '常问的，可以直接写好回答。问过而没有找到的问题会列在这里。'
            : '这些问过，资料里没有找到（不记是谁问的）：'}
        </p>
        <ul className={css.files}>
          {gaps.map((gap) => (
            <li key={gap.id} className={css.kept}>
              <p>{gap.question}</p>
              <small>
                问过 {gap.asked} 次 · 最近 {relativeTime(gap.last_at)}
              </small>
              <div className={css.acts}>
                <Button size="small" onClick={() => setAsked(gap.question)}>
                  补上回答
                </Button>
                <Button
                  size="small"
                  busy={busy}
                  onClick={() => void run(() => api.delGap({ model_id: modelId, id: gap.id }))}
                >
                  不再列出
                </Button>
              </div>
            </li>
          ))}
        </ul>
      </section>
      <Addresses modelId={modelId} />
      <Sheet open={asked !== null} onClose={() => setAsked(null)} title="添加问答">
        {asked !== null && (
          <PairForm key={asked} modelId={modelId} asked={asked} onDone={() => setAsked(null)} />
        )}
      </Sheet>
    </>
  );
};
