import rowCss from '#src/ui/chip-row.module.css';
import { Chip } from '#src/ui/chip.tsx';
import { modelTypes } from '#contract/kinds.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { writeDraft } from '#src/platform/draft.ts';
import { toast } from '#src/platform/toast.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { FilterBar } from '#src/ui/filter-bar/filter-bar.tsx';
import { LoadFailed } from '#src/ui/load-failed.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { isBusy } from '#src/ui/table/page-props.ts';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { useRefusal } from '#src/widgets/conversation/use-refusal.ts';
import type { Model } from '#contract/model.ts';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ModelCard } from './model-card.tsx';
import { Compare, Facts } from './model-details.tsx';
import { isFound, sessionTypeOf, untrained } from './model-facts.ts';
import css from './model.module.css';
import type { ModelKind } from './model-search.ts';

const route = getRouteApi('/model');

const kinds: readonly (readonly [ModelKind | undefined, string, (model: Model) => boolean])[] = [
  [undefined, '全部', () => true],
  ['chat', '聊天', ({ type }) => type === modelTypes.chat],
  ['image', '图片', ({ type }) => type === modelTypes.image],
  ['video', '视频', ({ type }) => type === modelTypes.video],
  ['speech', '语音合成', ({ type }) => type === modelTypes.textToSpeech],
  ['hearing', '语音识别', ({ type }) => type === modelTypes.speechToText],
  ['free', '免费', ({ factor }) => factor === 0],
];

/** Makes a session with a model, or with two that answer beside each other. */
const useBegin = () => {
  const navigate = useNavigate();
  const refuse = useRefusal();
  return async (model: Model, beside?: Model): Promise<void> => {
    if (untrained(model)) {
      toast('这个模型还没有训练完成，请稍后再试', 'error');
      return;
    }
    const type = sessionTypeOf(model);
    if (type === undefined) {
      toast('语音模型在会话里用：语音输入，或者朗读回复');
      await navigate({ to: '/', search: { new: 1 } });
      return;
    }
    try {
      const { uuid } = await api.newSession({ type, model: model.name }, { quiet: true });
      if (beside) writeDraft(`choices:${uuid}`, JSON.stringify({ beside: beside.name }));
      const open = model.type === modelTypes.video ? 'img-video' : undefined;
      await navigate({ to: '/chat', search: { uuid, open } });
    } catch (error) {
      refuse(error);
    }
  };
};

const none: readonly Model[] = [];

/** Two models that are chosen to be compared; undefined: nothing is compared now. */
const useComparing = () => {
  const [chosen, setChosen] = useState<readonly Model[] | undefined>();
  return {
    chosen,
    toggleMode: () => setChosen((now) => (now ? undefined : none)),
    /** A third takes the place of the first. */
    toggle: (model: Model) =>
      setChosen((now = none) =>
        now.some(({ name }) => name === model.name)
          ? now.filter(({ name }) => name !== model.name)
          : [...now.slice(-1), model],
      ),
  };
};

/** All models: what each is, costs, and how it did in the last day. */
export const ModelScreen = () => {
  usePageTitle('模型');
  const { kind, query = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const begin = useBegin();
  const models = useCall('models', {}, { staleTime: 5 * 60_000 });
  const health = useCall('modelHealth', {}, { staleTime: 60_000 });
  const [looked, setLooked] = useState<Model | null>(null);
  const [pair, setPair] = useState<readonly [Model, Model] | null>(null);
  const { chosen, toggleMode, toggle } = useComparing();
  const healths = new Map(health.data?.list.map((each) => [each.model, each]));
  const fits = kinds.find(([key]) => key === kind)?.[2] ?? (() => true);
  const shown = models.data?.models.filter(
    (model) => model.display && fits(model) && isFound(model, healths.get(model.name), query),
  );
  const [left, right] = chosen ?? none;
  return (
    <div className="page">
      <header className="page-head">
        <h1>模型</h1>
        <Button size="small" aria-pressed={chosen !== undefined} onClick={toggleMode}>
          {chosen ? '不比较了' : '多模型对比'}
        </Button>
      </header>
      <FilterBar
        filters={[{ kind: 'text', name: 'query', label: '找模型：看图、便宜、长文' }]}
        values={{ query }}
        onChange={({ query: next }) =>
          void navigate({ search: { kind, query: next }, replace: true, resetScroll: false })
        }
      />
      <nav className={rowCss.chipRow} aria-label="类型">
        {kinds.map(([key, label]) => (
          <Chip
            key={label}
            aria-pressed={key === kind}
            onClick={() =>
              void navigate({
                search: { kind: key, query: query || undefined },
                resetScroll: false,
              })
            }
          >
            {label}
          </Chip>
        ))}
      </nav>
      {models.error && !models.data && (
        <LoadFailed
          error={models.error}
          busy={isBusy(models)}
          onRetry={() => void models.refetch()}
        />
      )}
      {!shown && !models.error && <Skeleton lines={6} />}
      {shown?.length === 0 && (
        <EmptyPlace
          drawing="lighthouse"
          text={
            query === ''
              ? '还没有这类模型。管理员可以在模型管理里连接。'
              : `没有找到“${query}”，换个词试试。`
          }
          action={
            <ButtonLink to="/model" search={{}}>
              看全部
            </ButtonLink>
          }
        />
      )}
      {shown && shown.length > 0 && (
        <ul className={css.cards} aria-label="模型">
          {shown.map((model) => (
            <ModelCard
              key={model.name}
              model={model}
              health={healths.get(model.name)}
              compared={chosen ? chosen.some(({ name }) => name === model.name) : null}
              onLook={() => setLooked(model)}
              onBegin={() => void begin(model)}
              onCompare={() => toggle(model)}
            />
          ))}
        </ul>
      )}
      {chosen && (
        <div className={css.comparing}>
          <Button
            kind="primary"
            disabled={!left || !right}
            onClick={() => left && right && setPair([left, right])}
          >
            {left && right ? `比较 ${left.label} 与 ${right.label}` : '选两个来比较'}
          </Button>
        </div>
      )}
      <Sheet open={looked !== null} onClose={() => setLooked(null)} title={looked?.label ?? ''}>
        {looked && (
          <>
            <Facts model={looked} health={healths.get(looked.name)} />
            <Button kind="primary" className={css.both} onClick={() => void begin(looked)}>
              用它新建会话
            </Button>
          </>
        )}
      </Sheet>
      <Sheet open={pair !== null} onClose={() => setPair(null)} title="比较">
        {pair && (
          <Compare pair={pair} healths={healths} onBegin={() => void begin(pair[0], pair[1])} />
        )}
      </Sheet>
    </div>
  );
};
