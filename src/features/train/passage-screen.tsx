import { useCall } from '#src/platform/call-query.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { OriginalPage } from '#src/widgets/source/original-page.tsx';
import { OriginalText } from '#src/widgets/source/original-text.tsx';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import css from './train.module.css';

const route = getRouteApi('/train/passage');

/** A passage that an answer names, with what stands before and behind it. */
export const PassageScreen = () => {
  const { id } = route.useSearch();
  const router = useRouter();
  const passage = useCall('knowledgePassage', { id: id ?? 0 }, { enabled: id !== undefined });
  usePageTitle(passage.data?.file ?? '资料');
  const { data } = passage;
  return (
    <article className={`page ${css.screen}`}>
      <header className="page-head">
        <button
          type="button"
          className="button button-ghost button-icon"
          aria-label="返回"
          onClick={() => router.history.back()}
        >
          <Icon name="back" size={24} />
        </button>
        <h1 className={css.oneLine}>{data?.file ?? '资料'}</h1>
      </header>
      {id === undefined && <EmptyState icon="search" text="没有说要看哪一段。" />}
      {id !== undefined && passage.isPending && <Skeleton lines={8} />}
      {passage.isError && <QueryFailed query={passage} />}
      {data && (
        <>
          <p className={css.note}>
            {[`知识库「${data.name}」`, data.place].filter(Boolean).join(' · ')}
          </p>
          <div className={css.passage}>
            <OriginalText {...data} stretches={[{ text: data.text, marked: true }]} />
          </div>
          {data.drawn > 0 && (
            <OriginalPage
              id={data.drawn}
              stretches={[{ text: data.text, marked: true }]}
              place={data.place}
            />
          )}
        </>
      )}
    </article>
  );
};
