import { useChosenModel, useUsualModel } from '#src/platform/queries.ts';
import { ButtonLink } from '#src/ui/button.tsx';
import css from './manage-model.module.css';

/** Who answers from now on, and the way to ask it. */
export const AnswersNow = () => {
  const chosen = useChosenModel();
  const usual = useUsualModel();
  return (
    <>
      {chosen && usual && (
        <p>
          现在默认由 <strong>{chosen.label}</strong> 回答
          {chosen.name === usual.name
            ? '。'
            : `（您选的）；别人没有选的时候由 ${usual.label} 回答。`}
        </p>
      )}
      <div className={css.acts}>
        <ButtonLink kind="primary" to="/" search={{ new: 1 }}>
          开始聊
        </ButtonLink>
        <ButtonLink to="/manager/model">看看模型与价格</ButtonLink>
      </div>
    </>
  );
};
