import { Tag } from '#src/ui/chip.tsx';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { byteSize } from '#src/platform/format.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { LoadFailed } from '#src/ui/load-failed.tsx';
import { ProgressBar } from '#src/ui/progress-bar.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { LocalModel } from '#contract/local-model.ts';
import { useState } from 'react';
import css from './local-shelf.module.css';

/** While one is on its way the shelf is read so often, ms. */
const watchMs = 1000;

const busy = ({ state }: LocalModel) => state === 'fetching' || state === 'checking';

const Row = ({
  model,
  memory,
  reason,
  onChange,
}: {
  model: LocalModel;
  memory: number;
  reason: string;
  onChange: () => void;
}) => {
  const act = useAct();
  const { key, label, state, bytes, total, error } = model;
  const run = (work: () => Promise<unknown>, said?: string) =>
    void act.run(work, said).then(onChange);
  const fetchIt = (
    <Button
      kind="primary"
      busy={act.busy}
      disabled={reason !== ''}
      onClick={() => run(() => api.fetchLocalModel({ key }))}
    >
      {state === 'failed' || state === 'waiting' ? '接着下载' : '下载'}
    </Button>
  );
  const remove = async () => {
    const text = `从这台机器删去“${label}”的文件（${byteSize(model.size)}）？`;
    if (!(await confirmDialog({ text, ok: '删除', danger: true }))) return;
    run(() => api.removeLocalModel({ key }), '删除成功');
  };
  return (
    <li className={css.row}>
      <div className={css.words}>
        <strong>
          {label}
          {state === 'ready' && <Tag>可以用了</Tag>}
        </strong>
        <span>
          {[
            byteSize(model.size),
            model.memory > 0 && `运行时占内存约 ${byteSize(model.memory)}`,
            model.licence,
            model.languages,
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
        {model.memory > memory && (
          <span className={css.warning}>这台机器的内存不够，会很慢或者停下</span>
        )}
        {busy(model) && (
          <>
            <ProgressBar part={total > 0 ? bytes / total : 0} label={`下载 ${label}`} />
            <span>
              {state === 'checking' ? '正在核对…' : `${byteSize(bytes)} / ${byteSize(total)}`}
            </span>
          </>
        )}
        {state === 'waiting' && <span>下好了 {byteSize(bytes)}，可以接着下</span>}
        {error !== '' && <span className={css.warning}>{error}</span>}
      </div>
      <div className={css.acts}>
        {state === 'ready' ? (
          <>
            <ButtonLink kind="primary" to="/" search={{ new: 1 }}>
              问一句
            </ButtonLink>
            <Button onClick={() => void remove()}>删除</Button>
          </>
        ) : busy(model) ? (
          <Button busy={act.busy} onClick={() => run(() => api.stopLocalModel({ key }))}>
            停下
          </Button>
        ) : (
          fetchIt
        )}
      </div>
    </li>
  );
};

const Mirrors = ({ list, onChange }: { list: readonly string[]; onChange: () => void }) => {
  const act = useAct();
  const [text, setText] = useState(list.join('\n'));
  const save = (mirrors: string[]) =>
    void act
      .run(
        async () => setText((await api.saveLocalMirrors({ mirrors })).mirrors.join('\n')),
        '已保存',
      )
      .then(onChange);
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return (
    <details className={css.mirrors}>
      <summary>从哪里下载</summary>
      <label>
        <span>
          一行一个地址，按次序试；{'{repository}'} 与 {'{file}'} 会换成模型的
        </span>
        <textarea
          className="input"
          rows={4}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <div className={css.acts}>
        <Button kind="primary" busy={act.busy} onClick={() => save(lines)}>
          保存
        </Button>
        <Button busy={act.busy} onClick={() => save([])}>
          恢复原样
        </Button>
      </div>
    </details>
  );
};

/** Models that run on this very machine: brought here by one press. */
export const LocalShelf = () => {
  const shelf = useCall(
    'localModels',
    {},
    { refetchInterval: (query) => (query.state.data?.list.some(busy) ? watchMs : false) },
  );
  if (shelf.isError) return <LoadFailed error={shelf.error} onRetry={() => void shelf.refetch()} />;
  if (!shelf.data) return <Skeleton lines={6} />;
  const { list, reason, machine, mirrors, folder } = shelf.data;
  const again = () => void shelf.refetch();
  return (
    <section className={css.shelf}>
      <p>
        下载之后在这台机器上运行：不用密钥，不花钱，话不出门。这台机器有 {machine.processors}{' '}
        个处理器、
        {byteSize(machine.memory)} 内存，磁盘剩 {byteSize(machine.disk_free)}。
      </p>
      {reason !== '' && <p className={css.warning}>{reason}</p>}
      <ul className={css.list}>
        {list.map((model) => (
          <Row
            key={model.key}
            model={model}
            memory={machine.memory}
            reason={reason}
            onChange={again}
          />
        ))}
      </ul>
      <Mirrors list={mirrors} onChange={again} />
      <p className={css.hint}>
        没有网络时，把 .gguf 文件放进 <code>{folder}</code>，再打开这一页。
      </p>
    </section>
  );
};
