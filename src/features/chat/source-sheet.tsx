import { useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { Source } from '#contract/embedding.ts';
import { OriginalPage } from '#src/widgets/source/original-page.tsx';
import { OriginalText } from '#src/widgets/source/original-text.tsx';
import { useNavigate } from '@tanstack/react-router';
import { Button } from '#src/ui/button.tsx';
import { markedPassage } from './marked-passage.ts';
import css from './source-sheet.module.css';

/** A source of an answer that somebody wants to see. */
export interface OpenedSource {
  historyId: number;
  source: Source;
  /** Words of the answer that rest on it; empty: it was opened from the list. */
  said: string;
}

const Passage = ({ historyId, source, said }: OpenedSource) => {
  const navigate = useNavigate();
  const { data, ...passage } = useCall('replySource', { history_id: historyId, n: source.n });
  const parts = data ? markedPassage(data.text, { said, terms: data.terms }) : [];
  // A page of the web that was opened: it is read here as it was then.
  const isPage = data ? /^https?:/.test(data.url) : source.base === '网页';
  return (
    <div className={css.source}>
      <p className={css.where}>
        <strong>{source.title}</strong>
        <span>
          {[
            source.place,
            isPage ? source.base : `知识库「${source.base}」`,
            data?.at ? `读于 ${dateTime(data.at)}` : '',
          ]
            .filter((part) => part !== '')
            .join(' · ')}
        </span>
      </p>
      {passage.isPending && <Skeleton lines={6} />}
      {passage.isError && <QueryFailed query={passage} />}
      {data && (
        <>
          {data.url === '' && (
            <p className={css.note}>原文后来改过，或已删掉。这里是回答时的文字。</p>
          )}
          <OriginalText
            before={data.before}
            stretches={parts}
            after={data.after}
            stands={data.stands}
          />
          {data.drawn > 0 && <OriginalPage id={data.drawn} stretches={parts} place={data.place} />}
          {isPage && (
            <a className={css.outward} href={data.url} target="_blank" rel="noreferrer noopener">
              打开原网页
            </a>
          )}
          {data.url !== '' && !isPage && (
            <Button onClick={() => void navigate({ href: data.url })}>到原处看</Button>
          )}
        </>
      )}
    </div>
  );
};

const SourceSheet = ({ opened, onClose }: { opened: OpenedSource | null; onClose: () => void }) => (
  <Sheet open={opened !== null} onClose={onClose} title={`来源 ${opened?.source.n ?? ''}`}>
    {opened && <Passage {...opened} />}
  </Sheet>
);

export default SourceSheet;
