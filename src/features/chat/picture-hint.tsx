import { writeDraft } from '@/platform/draft.ts';
import { useModel } from '@/platform/queries.ts';
import { PathIcon } from '@/ui/icon.tsx';
import { useSite } from '@/platform/site.ts';
import { leastText } from './send-rules.ts';
import type { SessionDetail } from '@contract/session.ts';
import { picturePath } from './picture-path.ts';

const ideas = [
  '黄昏的雪山，湖面倒影，几只飞鸟',
  '月夜的海，远处一座灯塔，水彩',
  '江南小城，雨后，屋檐下的花',
  'a red fox in a snowy forest, soft light',
];

/** In a session of pictures before its first: what it is, and things to try. */
export const PictureHint = ({ session }: { session: SessionDetail }) => {
  const model = useModel(session.model);
  const { min_prompt_bytes: least } = useSite();
  return (
    <div className="list first-hint">
      <span className="first-dot" style={{ background: model?.color || undefined }}>
        <PathIcon path={picturePath} size={26} />
      </span>
      <h2>用{model?.label ?? session.model}画一张</h2>
      {model?.remark && <p>{model.remark}</p>}
      <ul className="hint-ideas" aria-label="试试这些">
        {ideas.map((idea) => (
          <li key={idea}>
            <button
              type="button"
              className="chip"
              onClick={() => {
                writeDraft(session.uuid, idea);
                document.querySelector<HTMLTextAreaElement>('.send textarea')?.focus();
              }}
            >
              {idea}
            </button>
          </li>
        ))}
      </ul>
      <p className="first-rule">{leastText(least)}画之前还可以换模型</p>
    </div>
  );
};
