import { deepTokens, type ThinkingChoice } from '#common/thinking-models.ts';
import type { Model } from '#contract/model.ts';
import { compactNumber } from '#common/compact-number.ts';
import { useThinking } from '#src/platform/thinking-choice.ts';
import { moveByArrows } from '#src/ui/arrow-keys.ts';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { useState } from 'react';
import css from './thinking-choice.module.css';
import switchCss from './web-switch.module.css';

const bulbPath =
  'M9.500 17.500v-1.800c0-1-.500-1.700-1.300-2.500a5.400 5.400 0 1 1 7.600 0c-.800.800-1.300 1.500-1.300 2.500v1.800M9.500 17.500h5M10.300 20.500h3.400';

const names: Record<ThinkingChoice, string> = { auto: '自动', fast: '快', deep: '深' };

const wordsOf = (choice: ThinkingChoice, { factor }: Model): string => {
  if (choice === 'auto') return '想不想、想多久，由模型自己决定';
  if (choice === 'fast') return '少想或不想：回答得快，花费也少';
  const price = '想得更久，想的内容与回复一样计费';
  return factor === 0
    ? '想得更久，适合难题'
    : `${price}：发送时多占 ${compactNumber(deepTokens * factor)} tokens，没用到的退还`;
};

/** How long a model that has the choice thinks. */
const ThinkingChooser = ({ model }: { model: Model }) => {
  const { choice, choose } = useThinking(model.name);
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className={switchCss.web}
        data-on={choice !== 'auto' || undefined}
        aria-haspopup="dialog"
        aria-label={`思考：${names[choice]}`}
        title={`思考：${wordsOf(choice, model)}`}
        onClick={() => setOpen(true)}
      >
        <PathIcon path={bulbPath} size={16} />
        {choice === 'auto' ? <span className={css.name}>思考</span> : `${names[choice]}想`}
      </button>
      <Sheet
        popover="list"
        open={open}
        onClose={() => setOpen(false)}
        title={`${model.label} 想多久`}
      >
        <ul role="radiogroup" aria-label="思考" onKeyDown={moveByArrows}>
          {(['auto', 'fast', 'deep'] as const).map((each) => (
            <li role="presentation" key={each}>
              <button
                type="button"
                role="radio"
                aria-checked={each === choice}
                className={css.row}
                onClick={() => {
                  choose(each);
                  setOpen(false);
                }}
              >
                <span className={css.words}>
                  {names[each]}
                  <small>{wordsOf(each, model)}</small>
                </span>
                {each === choice && <Icon name="check" />}
              </button>
            </li>
          ))}
        </ul>
      </Sheet>
    </>
  );
};

export default ThinkingChooser;
