import { useState } from 'react';
import { ChipDot } from '#src/ui/chip.tsx';
import { type ModelKind, priceText, useModel } from '#src/platform/queries.ts';
import { Icon } from '#src/ui/icon.tsx';
import { ModelSheet } from '#src/widgets/model/model-sheet.tsx';
import boxCss from './send.module.css';

/** The model that is asked, over the box; chosen while the session is empty. */
export const SendModel = ({
  name,
  kind,
  shown,
  first,
  onChoose,
}: {
  name: string;
  kind?: ModelKind;
  /** Its name beside another one's; left out: its own. */
  shown?: string | undefined;
  /** The session has no message yet. */
  first: boolean;
  onChoose: (name: string) => void;
}) => {
  const [open, setOpen] = useState(false);
  // Undefined while the models are not known, or it is none of them any more.
  const model = useModel(name);
  const label = model?.label ?? name;
  return (
    <>
      <button
        type="button"
        className={boxCss.sendModel}
        disabled={!first}
        title={`${label}：${first ? '选择模型' : '有了消息以后，模型不能再换'}`}
        aria-label={shown === undefined ? undefined : label}
        onClick={() => setOpen(true)}
      >
        <ChipDot color={model?.color} />
        <span className={boxCss.sendModelName}>{shown ?? label}</span>
        {model?.disable === 0 && model.factor !== 0 && <small>{priceText(model)}</small>}
        {first && <Icon name="down" size={14} />}
      </button>
      <ModelSheet
        open={open}
        value={name}
        kind={kind}
        onClose={() => setOpen(false)}
        onChoose={onChoose}
      />
    </>
  );
};
