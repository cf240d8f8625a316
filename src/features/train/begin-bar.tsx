import { useAct } from '#src/platform/use-act.ts';
import { ignoreApiError } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { refreshScreens } from '#src/platform/query-client.ts';
import { Button } from '#src/ui/button.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { TrainModel } from '#contract/train.ts';
import { useEffect } from 'react';
import { droppedProjects, isTranslation, settingsOf } from './projects.ts';
import css from './train.module.css';

const directions: Readonly<Record<number, { of: string; name: string }>> = {
  1: { of: '英文', name: '英文 → 中文' },
  2: { of: '中文', name: '中文 → 英文' },
};

/** Files that wait for their owner: what beginning will cost, whether their language fits, and the press. */
export const BeginBar = ({
  model,
  onBegun = () => undefined,
}: {
  model: TrainModel;
  onBegun?: () => void;
}) => {
  const { busy, run } = useAct();
  const work = isTranslation(model) ? '翻译' : '训练';
  const quote = useCall(
    'trainQuote',
    { model_id: model.id },
    { apart: [model.waiting_num, model.settings] },
  );
  // What could not be read waits no more, and is shown as that.
  const readable = quote.data?.files ?? model.waiting_num;
  useEffect(() => {
    if (readable < model.waiting_num) void refreshScreens();
  }, [readable, model.waiting_num]);
  const found = quote.data?.direction ?? 0;
  const turn = (direction: number) =>
    run(() => api.setTrainModel({ model_id: model.id, settings: { type: direction } }));
  const isOpen = found !== 0 && droppedProjects.has(model.id);
  useEffect(() => {
    if (!isOpen) return;
    // Once: whoever turns it back means it.
    droppedProjects.delete(model.id);
    void api.setTrainModel({ model_id: model.id, settings: { type: found } }).catch(ignoreApiError);
  }, [isOpen, found, model.id]);
  if (quote.isPending) return <Skeleton lines={2} />;
  if (quote.isError) return <QueryFailed query={quote} />;
  const { files, tokens, archives, direction } = quote.data;
  if (files === 0) return <p className={css.note}>没有可以{work}的文件，请添加别的。</p>;
  const other = directions[direction];
  const price =
    tokens === 0
      ? archives === files
        ? ''
        : ' · 免费'
      : ` · 约 ${tokens.toLocaleString('zh-CN')} tokens`;
  return (
    <div className={css.begin} role="group" aria-label={`开始${work}`}>
      {other && (
        <p className={css.warning} role="note">
          文件像是{other.of}，而方向是“{directions[3 - direction]?.name}”。
          <Button size="small" busy={busy} onClick={() => void turn(direction)}>
            改成{other.name}
          </Button>
        </p>
      )}
      <p className={css.note}>
        {isTranslation(model) && !other && `${directions[Number(settingsOf(model).type)]?.name}。`}
        {files} 个文件等您开始。
        {tokens > 0 && '价格是估计，按实际用量扣。'}
        {archives > 0 && `其中 ${archives} 个压缩包，里面的文件另计。`}
      </p>
      <Button
        kind="primary"
        busy={busy}
        onClick={() =>
          void run(() => api.startTraining({ model_id: model.id })).then((done) =>
            done ? onBegun() : undefined,
          )
        }
      >
        开始{work}
        {price}
      </Button>
    </div>
  );
};
