import { useAuth } from '../auth-store.ts';
import { priceText, useChatModels } from '../queries.ts';
import type { Model } from '@contract/model.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icon.tsx';
import './model-sheet.css';
import { Sheet } from './sheet.tsx';

const any = () => true;

/** All chat models with their remarks and prices, one to choose. */
export const ModelSheet = ({
  open,
  value,
  title = '选择模型',
  only = any,
  onClose,
  onChoose,
}: {
  open: boolean;
  /** Name of the model in use. */
  value: string;
  title?: string;
  /** Those that can be chosen here. */
  only?: (model: Model) => boolean;
  onClose: () => void;
  onChoose: (name: string) => void;
}) => {
  const models = useChatModels();
  const { signedIn } = useAuth();
  return (
    <Sheet open={open} onClose={onClose} title={title}>
      <ul className="models" role="radiogroup" aria-label="模型">
        {models.data?.filter(only).map((model) => (
          <li key={model.name}>
            <button
              type="button"
              role="radio"
              aria-checked={model.name === value}
              className="model"
              onClick={() => {
                onChoose(model.name);
                onClose();
              }}
            >
              <Avatar name={model.label} src={model.logo} color={model.color} />
              <span className="model-words">
                <span className="model-name">
                  {model.label}
                  <span className={model.factor === 0 ? 'tag tag-free' : 'tag'}>
                    {model.factor === 0 ? '免费' : `计费 ${priceText(model)}`}
                  </span>
                </span>
                {model.remark && <small>{model.remark}</small>}
                {model.factor > 0 && !signedIn && <small>登录后可用</small>}
              </span>
              {model.name === value && <Icon name="check" />}
            </button>
          </li>
        ))}
      </ul>
    </Sheet>
  );
};
