import { useCall } from '#src/platform/call-query.ts';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { Out } from '#contract/calls.ts';
import { type Figure, Figures } from './figures.tsx';
import css from './stats.module.css';

type Summary = Out<'adminSummary'>;
const shown = [
  ['user_count', '用户'],
  ['order_count', '订单'],
  ['session_count', '会话'],
  ['history_count', '消息'],
  ['image_count', '图片'],
] as const satisfies readonly (readonly [keyof Summary['today'], string])[];

const number = (value: number) => value.toLocaleString('zh-CN');

/** @param first what stands before them */
export const SummaryFigures = ({ first = [] }: { first?: readonly Figure[] }) => {
  const summary = useCall('adminSummary', {}, { refetchInterval: 60_000 });
  if (summary.isError && !summary.data) return <QueryFailed query={summary} />;
  if (!summary.data) return <Skeleton lines={4} />;
  const { data } = summary;
  return (
    <Figures
      figures={[
        ...first,
        ...shown.map(([key, label]) => {
          const more = data.today[key] - data.yesterday[key];
          return {
            label,
            value: number(data[key]),
            note: (
              <>
                今天 +{number(data.today[key])}
                {more !== 0 && (
                  <span className={more > 0 ? css.up : undefined}>
                    {more > 0
                      ? `，比昨天同时多 ${number(more)}`
                      : `，比昨天同时少 ${number(-more)}`}
                  </span>
                )}
              </>
            ),
          };
        }),
        { label: '会员', value: number(data.vip_count), note: '现在有效的' },
      ]}
    />
  );
};

export const SummaryScreen = () => (
  <ManagePage title="概览">
    <SummaryFigures />
  </ManagePage>
);
