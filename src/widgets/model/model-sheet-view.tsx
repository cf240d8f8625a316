import { Tag } from '#src/ui/chip.tsx';
import { useAuth } from '#src/platform/auth-store.ts';
import { useModelsOf } from '#src/platform/queries.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { moveByArrows } from '#src/ui/arrow-keys.ts';
import { FilterField } from '#src/ui/filter-field.tsx';
import { Icon } from '#src/ui/icon.tsx';
import css from './model-sheet.module.css';
import { isFree, priceOf, talentsOf } from './model-words.ts';
import type { Model } from '#contract/model.ts';
import { useLocked } from './use-locked.ts';
import type { ModelSheetProps } from './model-sheet-props.ts';
import { Sheet } from '#src/ui/sheet.tsx';
import { useState } from 'react';

const any = () => true;
/** What helps to choose: what it can do and what it costs. */
const factsOf = (model: Model): string => {
  const { price, unit } = priceOf(model);
  return [...talentsOf(model), ...(isFree(model) ? [] : [`${price} ${unit}`])].join(' · ');
};
/** So many are seen at a glance. */
const few = 5;

const ModelSheetView = ({
  open,
  value,
  title = '选择模型',
  only = any,
  kind = 'chat',
  onClose,
  onChoose,
}: ModelSheetProps) => {
  const models = useModelsOf(kind);
  const { signedIn } = useAuth();
  const isLocked = useLocked();
  const [words, setWords] = useState('');
  const leave = () => {
    setWords('');
    onClose();
  };
  const all = models.data?.filter(only) ?? [];
  const sought = words.trim().toLowerCase();
  const fitting = all.filter(({ label, name, remark }) =>
    `${label} ${name} ${remark}`.toLowerCase().includes(sought),
  );
  return (
    <Sheet popover="list" open={open} onClose={leave} title={title}>
      {all.length > few && <FilterField label="查找模型" value={words} onChange={setWords} />}
      <ul role="radiogroup" aria-label="模型" onKeyDown={moveByArrows}>
        {fitting.map((model) => (
          <li role="presentation" key={model.name}>
            <button
              type="button"
              role="radio"
              data-row
              aria-checked={model.name === value}
              className={css.model}
              onClick={() => {
                if (!isLocked(model)) onChoose(model.name);
                leave();
              }}
            >
              <Avatar name={model.label} src={model.logo} color={model.color} />
              <span className={css.modelWords}>
                <span className={css.modelName}>
                  {model.label}
                  {isFree(model) && <Tag kind="free">免费</Tag>}
                </span>
                {factsOf(model) !== '' && <small>{factsOf(model)}</small>}
                {model.remark && <small>{model.remark}</small>}
                {model.factor > 0 && !signedIn && <small>登录后可用</small>}
                {model.locked === 1 && signedIn && <small>付费用户可用，点一下去充值</small>}
              </span>
              {model.name === value && <Icon name="check" />}
            </button>
          </li>
        ))}
      </ul>
      {all.length > 0 && fitting.length === 0 && <p className={css.none}>没有这样的模型</p>}
    </Sheet>
  );
};

export default ModelSheetView;
