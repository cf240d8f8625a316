import { Tag } from '#src/ui/chip.tsx';
import { Button } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import css from './forum.module.css';

const examples = [
  {
    question: '怎样让模型每次都按同样的格式写周报？',
    answer:
      '把格式存成一个场景：在“场景”里新建，提示词里写“按‘本周完成、遇到的问题、下周计划’三段来写”，要填的地方写 {{input}}。以后点它填空就行。',
  },
  {
    question: '一百页的 PDF，怎样只问其中的内容？',
    answer:
      '在“知识库与画风”里新建知识库，把文件放进去，训练好之后新建会话时选它。回答下面会列出出自哪一页。',
  },
  {
    question: '同一个问题想让几个模型都答，怎么比？',
    answer: '在输入框里打 @ 选几个模型，它们会各答一份，并排着看，满意的那份可以接着聊。',
  },
] as const;

/**
 * What stands in the forum until somebody asks: questions as they could be, of nobody. They are no
 * sessions, so there is nothing to vote on, to reply to or to earn by.
 */
export const ForumExamples = ({ onAsk }: { onAsk: () => void }) => (
  <>
    <EmptyState
      icon="chat"
      text="暂无数据"
      action={
        <Button kind="primary" onClick={onAsk}>
          提一个问题
        </Button>
      }
    />
    <section className={css.examples} aria-label="示例">
      <p>问题和回答会是这样的；有了第一个真的问题，它们就不再出现。</p>
      <ul className={css.list}>
        {examples.map(({ question, answer }) => (
          <li key={question} className={css.question}>
            <details>
              <summary>
                <Tag>示例</Tag> {question}
              </summary>
              <p>{answer}</p>
            </details>
          </li>
        ))}
      </ul>
    </section>
  </>
);
