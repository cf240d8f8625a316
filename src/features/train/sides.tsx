import { useAct } from '#src/platform/use-act.ts';
import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { readDraft, writeDraft } from '#src/platform/draft.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Pager } from '#src/ui/pager/pager.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { Out } from '#contract/calls.ts';
import { useState } from 'react';
import css from './train.module.css';

type Segment = Out<'segmentList'>['list'][number];

/** Marks of what is not translated, as people may read them. */
const shown = (text: string): string => text.replaceAll(/<\/?\d+\/?>/g, '');

const Pair = ({
  segment,
  mine,
  onSaved,
}: {
  segment: Segment;
  mine: boolean;
  onSaved: () => void;
}) => {
  const place = `segment:${segment.id}`;
  /** What is being written; null: it is only shown. */
  const [text, setText] = useState(() => readDraft(place) || null);
  const write = (next: string | null) => {
    setText(next);
    writeDraft(place, next ?? '');
  };
  const { busy, run } = useAct();
  const save = (all: 0 | 1) =>
    run(async () => {
      const { changed } = await api.saveSegment({ id: segment.id, target: text ?? '', all });
      toast(all === 1 ? `改了 ${changed} 处` : '保存成功', 'success');
      write(null);
      onSaved();
    });
  return (
    <li className={css.pair} data-state={segment.state}>
      <p lang="und">{shown(segment.source)}</p>
      {text === null ? (
        <button
          type="button"
          className={css.target}
          disabled={!mine}
          aria-label={`译文：${shown(segment.target) || '还没有'}${mine ? '，点按修改' : ''}`}
          onClick={() => setText(segment.target)}
        >
          {segment.state === 0 ? <em>还没有译</em> : shown(segment.target)}
          {segment.state === 2 && <span className="tag">已改</span>}
        </button>
      ) : (
        <div className={css.editing}>
          <textarea
            value={text}
            rows={3}
            maxLength={20_000}
            aria-label="译文"
            onChange={(event) => write(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') write(null);
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save(0);
            }}
          />
          <div className={css.acts}>
            <Button size="small" onClick={() => write(null)}>
              取消
            </Button>
            <Button size="small" busy={busy} onClick={() => void save(1)}>
              同样的都改
            </Button>
            <Button kind="primary" size="small" busy={busy} onClick={() => void save(0)}>
              保存
            </Button>
          </div>
        </div>
      )}
    </li>
  );
};

/** Original and translation side by side; a sentence can be corrected where it stands. */
export const Sides = ({ fileId, onClose }: { fileId: number; onClose: () => void }) => {
  const [page, setPage] = useState(1);
  const sides = useCall('segmentList', { file_id: fileId, page }, keepLast);
  const { data } = sides;
  return (
    <section className={css.sides} aria-label="对照">
      <header className={css.sectionHead}>
        <h2>{data?.name ?? '对照'}</h2>
        <Button size="small" onClick={onClose}>
          返回文件
        </Button>
      </header>
      {sides.isPending && <Skeleton lines={6} />}
      {sides.isError && !data && <QueryFailed query={sides} />}
      {data?.list.length === 0 && (
        <EmptyState icon="document" text="还没有可以对照的句子，稍等片刻再看。" />
      )}
      {data && data.list.length > 0 && (
        <>
          {data.mine && (
            <p className={css.note}>点译文就能改。改过的句子，下载和打包时用改后的。</p>
          )}
          <ul className={css.pairs}>
            {data.list.map((segment) => (
              <Pair
                key={segment.id}
                segment={segment}
                mine={data.mine}
                onSaved={() => void sides.refetch()}
              />
            ))}
          </ul>
          <Pager page={page} count={data.page_count} onPage={setPage} />
        </>
      )}
    </section>
  );
};
