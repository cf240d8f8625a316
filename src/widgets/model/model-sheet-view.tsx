import { Tag } from '#src/ui/chip.tsx';
import { useAuth } from '#src/platform/auth-store.ts';
import { priceText, useChatModels, useImageModels, useVideoModels } from '#src/platform/queries.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { moveByArrows } from '#src/ui/arrow-keys.ts';
import { Icon } from '#src/ui/icon.tsx';
import css from './model-sheet.module.css';
import { useLocked } from './use-locked.ts';
import type { ModelSheetProps } from './model-sheet-props.ts';
import { Sheet } from '#src/ui/sheet.tsx';

const any = () => true;

const ModelSheetView = ({
  open,
  value,
  title = '选择模型',
  only = any,
  images = false,
  films = false,
  onClose,
  onChoose,
}: ModelSheetProps) => {
  const chats = useChatModels();
  const painters = useImageModels();
  const cameras = useVideoModels();
  const models = films ? cameras : images ? painters : chats;
  const { signedIn } = useAuth();
  const isLocked = useLocked();
  return (
    <Sheet open={open} onClose={onClose} title={title}>
      <ul role="radiogroup" aria-label="模型" onKeyDown={moveByArrows}>
        {models.data?.filter(only).map((model) => (
          <li role="presentation" key={model.name}>
            <button
              type="button"
              role="radio"
              aria-checked={model.name === value}
              className={css.model}
              onClick={() => {
                if (!isLocked(model)) onChoose(model.name);
                onClose();
              }}
            >
              <Avatar name={model.label} src={model.logo} color={model.color} />
              <span className={css.modelWords}>
                <span className={css.modelName}>
                  {model.label}
                  <Tag kind={model.factor === 0 ? 'free' : undefined}>
                    {model.factor === 0 ? '免费' : `计费 ${priceText(model)}`}
                  </Tag>
                </span>
                {model.remark && <small>{model.remark}</small>}
                {model.factor > 0 && !signedIn && <small>登录后可用</small>}
                {model.locked === 1 && signedIn && <small>付费用户可用，点一下去充值</small>}
              </span>
              {model.name === value && <Icon name="check" />}
            </button>
          </li>
        ))}
      </ul>
    </Sheet>
  );
};

export default ModelSheetView;
