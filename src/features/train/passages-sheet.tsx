import { api } from '#src/platform/api.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Pager } from '#src/ui/pager/pager.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { Passage } from '#contract/knowledge.ts';
import type { TrainFile } from '#contract/train.ts';
import { knowledgeLimits } from '#contract/train-limits.ts';
import { useState } from 'react';
import css from './train.module.css';

const Row = ({ passage, number }: { passage: Passage; number: number }) => {
  const [text, setText] = useState<string | null>(null);
  const { busy, run } = useAct();
  const save = async () => {
    if (text === null) return;
    if (await run(() => api.savePassage({ id: passage.id, text }), '已保存')) setText(null);
  };
  const remove = async () => {
    const sure = await confirmDialog({ text: '删掉这一段？不能恢复。', ok: '删掉', danger: true });
    if (sure) await run(() => api.delPassage({ id: passage.id }), '删除成功');
  };
  return (
    <li className={css.kept} data-off={passage.off}>
      <small>
        {[
          `第 ${number} 段`,
          passage.place || passage.heading,
          passage.off ? '已停用，不会被找到' : '',
        ]
          .filter(Boolean)
          .join(' · ')}
      </small>
      {text === null ? (
        <p>{passage.text}</p>
      ) : (
        <textarea
          className={css.keptText}
          aria-label={`第 ${number} 段的文字`}
          value={text}
          maxLength={knowledgeLimits.passage}
          rows={Math.min(14, Math.max(4, Math.ceil(text.length / 30)))}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <div className={css.acts}>
        {text === null ? (
          <>
            <Button size="small" onClick={() => setText(passage.text)}>
              改
            </Button>
            <Button
              size="small"
              busy={busy}
              onClick={() =>
                void run(
                  () => api.savePassage({ id: passage.id, off: !passage.off }),
                  passage.off ? '已启用' : '已停用',
                )
              }
            >
              {passage.off ? '启用' : '停用'}
            </Button>
            <Button size="small" onClick={() => void remove()}>
              删掉
            </Button>
          </>
        ) : (
          <>
            <Button
              size="small"
              kind="primary"
              busy={busy}
              disabled={text.trim() === ''}
              onClick={() => void save()}
            >
              保存
            </Button>
            <Button size="small" onClick={() => setText(null)}>
              不改了
            </Button>
          </>
        )}
      </div>
    </li>
  );
};

const Passages = ({ file }: { file: TrainFile }) => {
  const [page, setPage] = useState(1);
  const found = useCall('passageList', { file_id: file.id, page }, keepLast);
  const list = found.data?.list ?? [];
  if (found.isPending) return <Skeleton lines={6} />;
  if (found.isError && !found.data) return <QueryFailed query={found} />;
  if (list.length === 0 && page === 1) return <EmptyState icon="document" text="没有段落。" />;
  return (
    <>
      <p className={css.note}>
        改过的文字马上生效；文件重新训练、网址再读到新内容时，会换成新的段落。
      </p>
      <ul className={css.files}>
        {list.map((passage, at) => (
          <Row
            key={passage.id}
            passage={passage}
            number={(page - 1) * knowledgeLimits.passagePage + at + 1}
          />
        ))}
      </ul>
      <Pager
        page={page}
        count={found.data?.page_count ?? 0}
        isCounted={list.length === 0}
        onPage={setPage}
      />
    </>
  );
};

/** The passages of a file, as its owner reads, changes and switches them. */
export const PassagesSheet = ({
  file,
  onClose,
}: {
  file: TrainFile | null;
  onClose: () => void;
}) => (
  <Sheet open={file !== null} onClose={onClose} title={file ? `段落 · ${file.name}` : '段落'}>
    {file && <Passages key={file.id} file={file} />}
  </Sheet>
);
