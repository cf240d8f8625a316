import type { Message } from '#contract/chat.ts';
import type { Source } from '#contract/embedding.ts';
import css from './sources.module.css';

type Answer = Pick<Message, 'ai' | 'sources'>;

/** Those that the answer names; all that it was given where it names none. */
export const citedSources = ({ ai, sources = [] }: Answer): { list: Source[]; cited: boolean } => {
  const list = sources.filter(({ n }) => ai.includes(`[${n}]`));
  return list.length > 0 ? { list, cited: true } : { list: sources, cited: false };
};

const nameOf = ({ title, place }: Source): string =>
  [...new Set([title, place])].filter((part) => part !== '').join(' · ');

/** What an answer rests on, below it. Without `onOpen` it is only read. */
export const Sources = ({
  answer,
  onOpen,
}: {
  answer: Answer;
  onOpen?: (source: Source) => void;
}) => {
  const { list, cited } = citedSources(answer);
  if (list.length === 0) return null;
  return (
    <div className={css.sources} role="group" aria-label="来源">
      <span>{cited ? '来源' : '查到的资料'}</span>
      <ol>
        {list.map((source) => {
          const words = (
            <>
              <b>{source.n}</b>
              <span>{nameOf(source)}</span>
            </>
          );
          return (
            <li key={source.n}>
              {onOpen ? (
                <button type="button" title={nameOf(source)} onClick={() => onOpen(source)}>
                  {words}
                </button>
              ) : (
                <p>{words}</p>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
};
