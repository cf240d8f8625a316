import { writeDraft } from '#src/platform/draft.ts';
import { useModel } from '#src/platform/queries.ts';
import { useSite } from '#src/platform/site.ts';
import type { SessionDetail } from '#contract/session.ts';
import { ImageIdeas } from '#src/widgets/image/image-ideas.tsx';
import { leastText } from '#src/widgets/composer/send-rules.ts';
import rowCss from '#src/widgets/conversation/conversation.module.css';
import drawCss from '#src/widgets/image/image-session.module.css';

/** Latin names stand apart from the Chinese around them. */
const setApart = (name: string): string => (/[a-z0-9]/i.test(name) ? ` ${name} ` : name);

/** In a session of images before its first: what it is, and images to try, each with its words. */
export const ImageHint = ({ session }: { session: SessionDetail }) => {
  const model = useModel(session.model);
  const { min_prompt_bytes: least } = useSite();
  return (
    <div className={`${rowCss.list} ${rowCss.firstHint} ${drawCss.hintImages}`}>
      <h2>用{setApart(model?.label ?? session.model)}画一张</h2>
      {model?.remark && <p>{model.remark}</p>}
      <ImageIdeas
        onChoose={(prompt) => {
          writeDraft(session.uuid, prompt);
          document.querySelector<HTMLTextAreaElement>('[data-send-box] textarea')?.focus();
        }}
      />
      <p className={rowCss.firstRule}>{leastText(least)}示例由内置画板画成</p>
    </div>
  );
};
