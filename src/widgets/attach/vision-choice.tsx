import { Chip } from '#src/ui/chip.tsx';
import { useChatModels } from '#src/platform/queries.ts';
import { ModelSheet } from '#src/widgets/model/model-sheet.tsx';
import type { Model } from '#contract/model.ts';
import { useState, type ReactNode } from 'react';
import type { AttachTarget } from '#src/platform/attach/attach-store.ts';
import css from './attach-parts.module.css';

const sees = (model: Model): boolean => model.vision;

/** Whether images mean nothing to the model in use, and what can be done about it. */
export const useVisionChoice = (
  target: AttachTarget,
  more?: ReactNode,
): {
  blind: boolean;
  /** Nor is there any other model that sees. */
  hopeless: boolean;
  notice: ReactNode;
} => {
  const models = useChatModels();
  const [choosing, setChoosing] = useState(false);
  const { model, onModel } = target;
  if (!model || model.vision) return { blind: false, hopeless: false, notice: null };
  const some = models.data?.some(sees) ?? false;
  const why = !some
    ? '现在也没有能看图片的模型。'
    : onModel
      ? ''
      : '有了消息以后模型不能再换，请用能看图片的模型新建会话。';
  return {
    blind: true,
    hopeless: models.data !== undefined && !some,
    notice: (
      <div className={css.attachNote} role="note">
        <p>
          「{model.label}」看不了图片。{why}
        </p>
        <div className={css.attachNoteActs}>
          {some && onModel && <Chip onClick={() => setChoosing(true)}>换一个能看图片的模型</Chip>}
          {more}
        </div>
        {onModel && (
          <ModelSheet
            open={choosing}
            value={model.name}
            title="能看图片的模型"
            only={sees}
            onClose={() => setChoosing(false)}
            onChoose={onModel}
          />
        )}
      </div>
    ),
  };
};
