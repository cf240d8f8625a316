import { useChatModels } from '#src/platform/queries.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import kitCss from '#src/widgets/composer/send-kit.module.css';

/** Gives the text box's keys to what is open over it; true: the key was for that. Null: no more. */
export type TakeKeys = (take: ((event: KeyboardEvent) => boolean) | null) => void;

/** The models over the text box, for the keyboard: up, down, Enter, Escape. */
export const AtList = ({
  value,
  onKeys,
  onClose,
  onChoose,
}: {
  value: string;
  onKeys: TakeKeys;
  onClose: () => void;
  onChoose: (name: string) => void;
}) => {
  const models = useChatModels().data ?? [];
  const [at, setAt] = useState(() =>
    Math.max(
      0,
      models.findIndex(({ name }) => name === value),
    ),
  );
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    onKeys((event) => {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      const model = models[at];
      if (step !== 0) setAt((at + step + models.length) % models.length);
      else if (event.key === 'Enter' && !event.nativeEvent.isComposing && model)
        onChoose(model.name);
      else if (event.key === 'Escape') onClose();
      else return false;
      return true;
    });
    return () => onKeys(null);
  });
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  useEffect(() => {
    const away = (event: PointerEvent) => {
      if (!(event.target instanceof Node) || list.current?.contains(event.target)) return;
      onClose();
    };
    addEventListener('pointerdown', away);
    return () => removeEventListener('pointerdown', away);
  });
  return (
    <ul className={kitCss.atList} role="listbox" aria-label="请哪个模型回答" ref={list}>
      {models.map((model, index) => (
        <li key={model.name} role="presentation">
          <button
            type="button"
            role="option"
            aria-selected={index === at}
            tabIndex={-1}
            onPointerMove={() => setAt(index)}
            onClick={() => onChoose(model.name)}
          >
            <Avatar name={model.label} src={model.logo} color={model.color} size={28} />
            <span className={kitCss.atListWords}>
              <span>{model.label}</span>
              {model.remark && <small>{model.remark}</small>}
            </span>
            <small>{model.factor === 0 ? '免费' : `×${model.factor}`}</small>
          </button>
        </li>
      ))}
    </ul>
  );
};
