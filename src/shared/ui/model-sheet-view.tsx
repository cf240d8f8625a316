import { useAuth } from '../auth-store.ts';
import { priceText, useChatModels, useImageModels } from '../queries.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icon.tsx';
import './model-sheet.css';
import type { ModelSheetProps } from './model-sheet.tsx';
import { Sheet } from './sheet.tsx';

const any = () => true;

const ModelSheetView = ({
  open,
  value,
  title = '选择模型',
  only = any,
  pictures = false,
  onClose,
  onChoose,
}: ModelSheetProps) => {
  const chats = useChatModels();
  const painters = useImageModels();
  const models = pictures ? painters : chats;
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

export default ModelSheetView;
