import { ChipDot } from '#src/ui/chip.tsx';
import { priceText } from '#src/platform/queries.ts';
import { Icon } from '#src/ui/icon.tsx';
import type { Model } from '#contract/model.ts';
import boxCss from './send.module.css';

/** The model that is asked, over the box; chosen while the session is empty. */
export const SendModel = ({
  name,
  model,
  shown,
  first,
  onChoose,
}: {
  name: string;
  /** Its name beside another one's; left out: its own. */
  shown?: string | undefined;
  /** Undefined while the models are not known, or it is none of them any more. */
  model: Model | undefined;
  /** The session has no message yet. */
  first: boolean;
  onChoose: () => void;
}) => (
  <button
    type="button"
    className={boxCss.sendModel}
    disabled={!first}
    title={`${model?.label ?? name}：${first ? '选择模型' : '有了消息以后，模型不能再换'}`}
    aria-label={shown === undefined ? undefined : (model?.label ?? name)}
    onClick={onChoose}
  >
    <ChipDot color={model?.color} />
    <span className={boxCss.sendModelName}>{shown ?? model?.label ?? name}</span>
    {model && <small>{priceText(model)}</small>}
    {first && <Icon name="down" size={14} />}
  </button>
);
