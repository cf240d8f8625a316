import { saveFrom } from '#src/platform/save-file.ts';
import { bounds } from '#contract/bounds.ts';
import { useAct } from '#src/platform/use-act.ts';
import { attempt, ignoreApiError } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { callKey, useCall } from '#src/platform/call-query.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { byteSize, dateTime, maskName } from '#src/platform/format.ts';
import { toast } from '#src/platform/toast.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { useFormDraft } from '#src/ui/form/form-draft.ts';
import { Icon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { PhotoViewer } from '#src/ui/photo-viewer.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { ForeignImage, isForeign } from '#src/widgets/image/foreign-image.tsx';
import { Markdown } from '#src/widgets/markdown/markdown.tsx';
import { yuan } from '#src/widgets/pay/money.ts';
import { PayHost } from '#src/widgets/pay/pay-host.tsx';
import { openPayment } from '#src/widgets/pay/pay-order.ts';
import type { Out } from '#contract/calls.ts';
import {
  useInfiniteQuery,
  useQueryClient,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import css from './market.module.css';
import { Stars } from './stars.tsx';

const route = getRouteApi('/apps/details');
type Details = Out<'appDetails'>;

const fetchApp = async (id: number, versionId?: number): Promise<void> => {
  const { url, file_name: name } = await api.appDownloadLink({ id, version_id: versionId });
  saveFrom(url, name);
  toast(`开始下载 ${name}`, 'success');
};

/** Reads on, or again what could not be read. */
const More = ({
  of,
  begun,
  text,
}: {
  of: Pick<
    UseInfiniteQueryResult,
    'isError' | 'isFetching' | 'hasNextPage' | 'fetchNextPage' | 'refetch' | 'data'
  >;
  /** There is more than what came with the app. */
  begun: boolean;
  text: string;
}) =>
  (of.data ? of.hasNextPage : begun && of.isError) ? (
    <Button busy={of.isFetching} onClick={() => void (of.data ? of.fetchNextPage() : of.refetch())}>
      {of.isError ? `${text}：没有读到，重试` : text}
    </Button>
  ) : null;

const CommentForm = ({ id, mine }: { id: number; mine: Details['app_detail']['my_comment'] }) => {
  const kept = useFormDraft(`app-comment.${id}`, {
    rating: mine?.rating ?? 0,
    text: mine?.comment_content ?? '',
  });
  const rating = Number(kept.values['rating']);
  const text = String(kept.values['text']);
  const { busy, run } = useAct();
  const send = async () => {
    const missing = rating === 0 ? '请点几颗星' : text.trim() === '' ? '请写点什么' : '';
    if (missing !== '') {
      toast(missing, 'error');
      return;
    }
    await run(async () => {
      await api.sendAppComment({ app_id: id, comment_content: text, rating });
      kept.drop();
      toast(mine ? '修改成功' : '发表成功', 'success');
    });
  };
  const remove = async () => {
    const sure = await confirmDialog({ text: '删除您的评论？', ok: '删除', danger: true });
    if (!sure) return;
    await attempt(async () => {
      await api.delOwnAppComment({ app_id: id });
      kept.set({ rating, text: '' });
      kept.drop();
      toast('删除成功', 'success');
    });
  };
  return (
    <div className={css.form}>
      <Stars value={rating} onChange={(next) => kept.set({ text, rating: next })} />
      <textarea
        className="text-input"
        aria-label="评论"
        rows={3}
        maxLength={bounds.app.comment.max}
        placeholder="用得怎么样？"
        value={text}
        onChange={(event) => kept.set({ rating, text: event.target.value })}
      />
      <div className={css.line}>
        {mine && (
          <Button kind="ghost" onClick={() => void remove()}>
            删除我的评论
          </Button>
        )}
        <Button kind="primary" busy={busy} onClick={() => void send()}>
          {mine ? '修改评论' : '发表评论'}
        </Button>
      </div>
    </div>
  );
};

/** What is done with an app; whatever fails has its price and state read again. */
const useTaking = (id: number) => {
  const client = useQueryClient();
  const renew = () => void client.invalidateQueries({ queryKey: callKey('appDetails', { id }) });
  // Its price or state may not be what stands here any more.
  const { busy, run: act } = useAct((error) => {
    renew();
    ignoreApiError(error);
  });
  return { busy, act, renew };
};
type Taking = ReturnType<typeof useTaking>;

type AppDetail = Details['app_detail'];

/** What an app is called, looks like and costs. */
const Head = ({ app }: { app: AppDetail }) => (
  <>
    <header className={css.head}>
      {app.cover_image_url ? (
        <img className={css.cover} src={`${app.cover_image_url}?size=320`} alt="" />
      ) : (
        <span className={css.cover} aria-hidden="true">
          {Array.from(app.title)[0]}
        </span>
      )}
      <div className={css.about}>
        <h1>{app.title}</h1>
        <small>
          {app.source || '官方'}
          {app.developer && ` · ${app.developer}`} · {app.type || '应用'}
        </small>
        <small className="tabular">
          {app.rating > 0 ? `★ ${app.rating.toFixed(1)}（${app.rating_count} 人）` : '暂无评分'} ·
          下载 {app.download_count} 次
        </small>
      </div>
      <b className="tabular">{app.price === 0 ? '免费' : yuan(app.price)}</b>
    </header>
    <p className={css.facts}>
      版本 {app.version} · {byteSize(app.code_size)} · 更新于 {dateTime(app.updated_at)}
    </p>
  </>
);

/** Buys the app or downloads it, whichever it takes. */
const Take = ({ id, app, taking }: { id: number; app: AppDetail; taking: Taking }) => {
  const { signedIn } = useAuth();
  const { busy, act, renew } = taking;
  const buy = async () => {
    const order = await api.payApp({ id });
    if (order.status === 1) toast('现在可以下载了', 'success');
    else openPayment(order, renew);
  };
  return !signedIn ? (
    <ButtonLink
      kind="primary"
      className={css.main}
      to="/login"
      search={{ back: `/apps/details?appid=${id}` }}
    >
      {app.price === 0 ? '登录后下载' : '登录后购买'}
    </ButtonLink>
  ) : (
    <Button
      kind="primary"
      className={css.main ?? ''}
      busy={busy}
      onClick={() => void act(app.isDownloadable ? () => fetchApp(id) : buy)}
    >
      {app.isDownloadable ? '下载' : `购买 ${yuan(app.price)}`}
    </Button>
  );
};

const Gallery = ({ images }: { images: readonly string[] }) => {
  const own = images.filter((url) => !isForeign(url));
  const [shown, setShown] = useState<number | null>(null);
  return (
    <>
      <div className={css.gallery}>
        {images.map((url, at) =>
          isForeign(url) ? (
            <ForeignImage key={url} url={url} alt={`预览图 ${at + 1}`} />
          ) : (
            <button
              key={url}
              type="button"
              className={css.zoom}
              aria-label={`放大预览图 ${at + 1}`}
              onClick={() => setShown(own.indexOf(url))}
            >
              <img src={`${url}?size=640`} alt={`预览图 ${at + 1}`} loading="lazy" />
            </button>
          ),
        )}
      </div>
      {shown !== null && <PhotoViewer images={own} index={shown} onClose={() => setShown(null)} />}
    </>
  );
};

const Versions = ({ id, details, taking }: { id: number; details: Details; taking: Taking }) => {
  const { app_detail: app } = details;
  const { busy, act } = taking;
  const versions = useInfiniteQuery({
    queryKey: ['appVersionNext', id],
    queryFn: ({ pageParam, signal }) =>
      api.appVersionNext({ id, version_page: pageParam }, { signal, quiet: true }),
    initialPageParam: 1,
    getNextPageParam: (last, all) => (last.hasMorePages ? all.length + 1 : undefined),
  });
  const shownVersions =
    versions.data?.pages.flatMap(({ list }) => list) ?? details.versions_detail.list;
  return (
    <section className="card">
      <h2>版本</h2>
      <ul className={css.rows}>
        {shownVersions.map((each) => (
          <li key={each.id}>
            <div className={css.line}>
              <strong>{each.version}</strong>
              <small className="tabular">
                {byteSize(each.code_size)} · {dateTime(each.created_at)}
              </small>
              {app.isDownloadable && (
                <Button busy={busy} onClick={() => void act(() => fetchApp(id, each.id))}>
                  下载
                </Button>
              )}
            </div>
            <p>{each.description}</p>
            {each.sha256 && (
              <details className={css.hash}>
                <summary>校验{each.scanned && ' · 已查毒'}</summary>
                <code>SHA-256 {each.sha256}</code>
              </details>
            )}
          </li>
        ))}
      </ul>
      <More of={versions} begun={details.versions_detail.hasMorePages} text="更早的版本" />
    </section>
  );
};

const Comments = ({ id, details }: { id: number; details: Details }) => {
  const { app_detail: app } = details;
  const { signedIn } = useAuth();
  const comments = useInfiniteQuery({
    queryKey: ['appCommentNext', id],
    queryFn: ({ pageParam, signal }) =>
      api.appCommentNext({ id, comment_page: pageParam }, { signal, quiet: true }),
    initialPageParam: 1,
    getNextPageParam: (last, all) => (last.hasMorePages ? all.length + 1 : undefined),
  });
  const report = (commentId: number) =>
    attempt(async () => {
      const sure = await confirmDialog({ text: '举报这条评论？', ok: '举报' });
      if (!sure) return;
      await api.reportAppComment({ id: commentId });
      toast('已举报，管理员会查看', 'success');
    });
  const shownComments =
    comments.data?.pages.flatMap(({ list }) => list) ?? details.comments_detail.list;
  return (
    <section className="card">
      <h2>评论</h2>
      {app.rating_count > 0 && (
        <ul className={css.spread} aria-label="评分分布">
          {app.ratings
            .filter(({ count }) => count > 0)
            .map(({ rating, count }) => (
              <li key={rating} className="tabular">
                <span>{rating.toFixed(1)} 星</span>
                <progress max={app.rating_count} value={count} aria-label={`${rating} 星`} />
                <span>{count}</span>
              </li>
            ))}
        </ul>
      )}
      {app.closeComment && <p className={css.facts}>这个应用关闭了评论。</p>}
      {!app.closeComment && app.isDownloadable && (
        <CommentForm key={app.my_comment ? 'mine' : 'new'} id={id} mine={app.my_comment} />
      )}
      {!app.closeComment && !app.isDownloadable && (
        <p className={css.facts}>取得这个应用之后可以评论。</p>
      )}
      {shownComments.length === 0 && <p className={css.facts}>还没有人评论。</p>}
      <ul className={css.rows}>
        {shownComments.map((each) => (
          <li key={each.id}>
            <div className={css.line}>
              <strong>{maskName(each.user_name)}</strong>
              <small className="tabular">
                ★ {each.rating.toFixed(1)} · {dateTime(each.created_at)}
                {each.edited && ' · 已修改'}
              </small>
              {signedIn && !each.mine && (
                <Button size="small" kind="ghost" onClick={() => void report(each.id)}>
                  举报
                </Button>
              )}
            </div>
            <p>{each.comment_content}</p>
          </li>
        ))}
      </ul>
      <More of={comments} begun={details.comments_detail.hasMorePages} text="更早的评论" />
    </section>
  );
};

const App = ({ id, details }: { id: number; details: Details }) => {
  const { app_detail: app } = details;
  const taking = useTaking(id);
  usePageTitle(app.title);
  const images = JSON.parse(app.images_url) as string[];
  return (
    <div className={`page ${css.detail}`}>
      <Link to="/apps" className={css.back}>
        <Icon name="back" size={20} />
        应用市场
      </Link>
      <Head app={app} />
      {images.length > 0 && <Gallery images={images} />}
      <Take id={id} app={app} taking={taking} />
      {app.md_description !== '' && (
        <section className="card">
          <Markdown text={app.md_description} />
        </section>
      )}
      <Versions id={id} details={details} taking={taking} />
      <Comments id={id} details={details} />
      <PayHost />
    </div>
  );
};

/** One app: what it is, its versions and comments; bought, then downloaded. */
export const AppScreen = () => {
  const { appid: id = 0 } = route.useSearch();
  const found = useCall('appDetails', { id }, { enabled: id > 0, retry: false });
  if (found.data) return <App key={id} id={id} details={found.data} />;
  if (id === 0 || (found.error instanceof ApiError && found.error.status === 404))
    return (
      <div className="page">
        <EmptyState
          icon="search"
          text="没有这个应用，或者它已经下架。"
          action={
            <ButtonLink kind="primary" to="/apps">
              去应用市场
            </ButtonLink>
          }
        />
      </div>
    );
  return (
    <div className="page">
      {found.isError ? <QueryFailed query={found} /> : <Skeleton lines={8} />}
    </div>
  );
};
