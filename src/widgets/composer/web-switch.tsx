import type { Model } from '#contract/model.ts';
import { PathIcon } from '#src/ui/icon.tsx';
import { useWebChoice } from '#src/platform/web-choice.ts';
import css from './web-switch.module.css';

const globePath =
  'M12 3.5a8.500 8.500 0 1 0 0 17a8.500 8.500 0 0 0 0-17ZM3.500 12h17M12 3.500c5 5 5 12 0 17M12 3.500c-5 5-5 12 0 17';

/** Lets the next questions search the web; nothing where that cannot be. */
export const WebSwitch = ({ place, model }: { place: string; model: Model | undefined }) => {
  const choice = useWebChoice(place, model);
  if (!choice) return null;
  return (
    <button
      type="button"
      className={css.web}
      aria-pressed={choice.on}
      title={
        choice.on
          ? '模型可以联网搜索：搜索词会发给搜索服务，搜到的网页会被打开'
          : '让模型联网搜索，并打开搜到的网页'
      }
      onClick={() => choice.set(!choice.on)}
    >
      <PathIcon path={globePath} size={16} />
      联网
    </button>
  );
};
