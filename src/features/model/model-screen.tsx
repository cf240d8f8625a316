import { Chip, Tag } from '#src/ui/chip.tsx';
import { modelTypes } from '#contract/kinds.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { writeDraft } from '#src/platform/draft.ts';
import { toast } from '#src/platform/toast.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { Button } from '#src/ui/button.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';
import { isBusy } from '#src/ui/table/page-props.ts';
import { useRefusal } from '#src/widgets/conversation/use-refusal.ts';
import type { Model } from '#contract/model.ts';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import {
  callable,
  paidOnly,
  rateText,
  rateTip,
  secondsText,
  successText,
  typeNames,
  unknown,
  sessionTypeOf,
  untrained,
  versionsOf,
  type Health,
} from './model-facts.ts';
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

const factsOf = (model: Model, health: Health | undefined): (readonly [string, string])[] => [
  ['代码', model.name],
  ['类型', typeNames[model.type] ?? '其他'],
  ['计费', `${rateText(model)}（${rateTip(model)}）`],
  ['API 调用', callable(model) ? '可以' : '不可以'],
  ['使用范围', paidOnly(model) ? '仅付费用户' : '所有人'],
  ['会员', model.vip_excluded ? '会员额度不包含' : '会员额度可用'],
  ['看图', model.vision ? '可以' : '不可以'],
  ['最长提问', `${model.max_prompt ?? 65_535} 字`],
  ['版本', versionsOf(model) || unknown],
  ['近一天成功', successText(health)],
  ['首字', secondsText(health?.first_time)],
  ['完成', secondsText(health?.time)],
  ['说明', model.remark || unknown],
];

const Facts = ({ model, health }: { model: Model; health: Health | undefined }) => (
  <dl className={css.facts}>
    {factsOf(model, health)
      .filter(([, text]) => text !== unknown)
      .map(([term, text]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{text}</dd>
        </div>
      ))}
  </dl>
);

interface Hovered {
  model: Model;
  /** px of the window. */
  left: number;
  middle: number;
}

const hoveredAt = (model: Model, logo: Element): Hovered => {
  const { right, top, bottom } = logo.getBoundingClientRect();
  return { model, left: right + 8, middle: (top + bottom) / 2 };
};

/** Beside the logo and whole within the window; what hangs out of the table would be cut off. */
const HoverCard = ({ of, health }: { of: Hovered; health: Health | undefined }) => {
  const { model, left, middle } = of;
  const place = (card: HTMLElement | null) => {
    if (!card) return;
    const { offsetHeight: height } = card;
    const top = Math.min(middle - height / 2, innerHeight - height - 8);
    card.style.top = `${Math.max(8, top)}px`;
  };
  return (
    <div className={css.hover} role="tooltip" style={{ left }} ref={place}>
      <Facts model={model} health={health} />
    </div>
  );
};

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

const Compare = ({
  pair,
  healths,
  onBegin,
}: {
  pair: readonly [Model, Model];
  healths: ReadonlyMap<string, Health>;
  onBegin: () => void;
}) => {
  const [left, right] = pair.map((model) => factsOf(model, healths.get(model.name)));
  return (
    <>
      <table className={css.compare}>
        <thead>
          <tr>
            <th scope="col">
              <span className="sr-only">项目</span>
            </th>
            {pair.map((model) => (
              <th key={model.name} scope="col">
                <span className={css.compared}>
                  <Avatar name={model.label} src={model.logo} color={model.color} size={36} />
                  {model.label}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {left?.map(([term, text], at) => (
            <tr key={term} data-differs={text !== right?.[at]?.[1] || undefined}>
              <th scope="row">{term}</th>
              <td>{text}</td>
              <td>{right?.[at]?.[1]}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {pair.every(({ type }) => type === modelTypes.chat) && (
        <Button kind="primary" className={css.both} onClick={onBegin}>
          用这两个模型对比
        </Button>
      )}
    </>
  );
};

/** All models: what each is, costs, and how it did in the last day. */
export const ModelScreen = () => {
  usePageTitle('模型');
  const { kind } = route.useSearch();
  const navigate = route.useNavigate();
  const begin = useBegin();
  const models = useCall('models', {}, { staleTime: 5 * 60_000 });
  const health = useCall('modelHealth', {}, { staleTime: 60_000 });
  const [looked, setLooked] = useState<Model | null>(null);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const [pair, setPair] = useState<readonly [Model, Model] | null>(null);
  const healths = new Map(health.data?.list.map((each) => [each.model, each]));
  const fits = kinds.find(([key]) => key === kind)?.[2] ?? (() => true);
  const rows = models.data?.models.filter((model) => model.display && fits(model));

  const columns: readonly Column<Model>[] = [
    {
      key: 'label',
      title: '模型',
      role: 'title',
      sortable: true,
      value: ({ label }) => label,
      render: (model) => (
        <span className={css.model}>
          <button
            type="button"
            className={css.logo}
            aria-label={`关于${model.label}`}
            onClick={() => setLooked(model)}
            onPointerEnter={({ pointerType, currentTarget }) => {
              if (pointerType === 'mouse') setHovered(hoveredAt(model, currentTarget));
            }}
            onPointerLeave={() => setHovered(null)}
            onFocus={({ currentTarget }) => {
              if (currentTarget.matches(':focus-visible'))
                setHovered(hoveredAt(model, currentTarget));
            }}
            onBlur={() => setHovered(null)}
          >
            <Avatar name={model.label} src={model.logo} color={model.color} size={36} />
          </button>
          <button
            type="button"
            className={css.name}
            title="用它新建会话"
            onClick={() => void begin(model)}
          >
            {model.label}
          </button>
          {untrained(model) && <Tag>未训练</Tag>}
        </span>
      ),
    },
    {
      key: 'type',
      title: '类型',
      sortable: true,
      value: ({ type }) => typeNames[type] ?? '其他',
      render: ({ type }) => <Tag>{typeNames[type] ?? '其他'}</Tag>,
    },
    {
      key: 'factor',
      title: '倍率',
      sortable: true,
      value: ({ factor }) => factor,
      render: (model) => (
        <Tag
          kind={model.factor === 0 ? 'free' : undefined}
          title={rateTip(model)}
          aria-label={rateTip(model)}
        >
          {rateText(model)}
        </Tag>
      ),
    },
    {
      key: 'success',
      title: '近一天成功',
      align: 'end',
      value: ({ name }) => successText(healths.get(name)),
    },
    {
      key: 'first',
      title: '首字',
      align: 'end',
      sortable: true,
      value: ({ name }) => healths.get(name)?.first_time ?? null,
      render: ({ name }) => secondsText(healths.get(name)?.first_time),
    },
    { key: 'remark', title: '说明', wide: true, value: ({ remark }) => remark || unknown },
  ];
  return (
    <div className="page">
      <header className="page-head">
        <h1>模型</h1>
      </header>
      <nav className={css.kinds} aria-label="类型">
        {kinds.map(([key, label]) => (
          <Chip
            key={label}
            aria-pressed={key === kind}
            onClick={() => void navigate({ search: { kind: key }, resetScroll: false })}
          >
            {label}
          </Chip>
        ))}
      </nav>
      <DataTable
        name="模型"
        columns={columns}
        rows={rows}
        rowKey={({ name }) => name}
        error={models.data ? undefined : models.error}
        busy={isBusy(models)}
        onRetry={() => void models.refetch()}
        empty={{ icon: 'search', text: '还没有这类模型。管理员可以在模型管理里连接。' }}
        renderChosen={(chosen) => (
          <Button
            size="small"
            disabled={chosen.length !== 2}
            onClick={() => {
              const [left, right] = chosen;
              if (left && right) setPair([left, right]);
            }}
          >
            {chosen.length === 2 ? '比较这两个' : '选两个来比较'}
          </Button>
        )}
      />
      {hovered && !looked && <HoverCard of={hovered} health={healths.get(hovered.model.name)} />}
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
