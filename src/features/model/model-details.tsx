import { modelTypes } from '#contract/kinds.ts';
import type { Model } from '#contract/model.ts';
import { limits } from '#contract/limits.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { Button } from '#src/ui/button.tsx';
import {
  callable,
  paidOnly,
  rateText,
  rateTip,
  secondsText,
  successText,
  typeNames,
  unknown,
  versionsOf,
  type Health,
} from './model-facts.ts';
import css from './model.module.css';

const factsOf = (model: Model, health: Health | undefined): (readonly [string, string])[] => [
  ['代码', model.name],
  ['类型', typeNames[model.type] ?? '其他'],
  ['计费', `${rateText(model)}（${rateTip(model)}）`],
  ['API 调用', callable(model) ? '可以' : '不可以'],
  ['使用范围', paidOnly(model) ? '仅付费用户' : '所有人'],
  ['会员', model.vip_excluded ? '会员额度不包含' : '会员额度可用'],
  ['看图', model.vision ? '可以' : '不可以'],
  ['最长提问', `${model.max_prompt ?? limits.defaultMaxPrompt} 字`],
  ['版本', versionsOf(model) || unknown],
  ['近一天成功', successText(health)],
  ['首字', secondsText(health?.first_time)],
  ['完成', secondsText(health?.time)],
  ['说明', model.remark || unknown],
];

/** All that is said of a model. */
export const Facts = ({ model, health }: { model: Model; health: Health | undefined }) => (
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

/** Two models side by side. */
export const Compare = ({
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
