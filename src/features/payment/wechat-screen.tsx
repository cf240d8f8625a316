import { api } from '#src/platform/api.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { ToMissing } from '#src/ui/lead-away.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { useQuery } from '@tanstack/react-query';
import css from './payment.module.css';

/** The official site's account on WeChat, as a code to scan. */
export const WechatScreen = () => {
  usePageTitle('微信');
  const code = useQuery({
    queryKey: ['siteInfo', 'wechat'],
    queryFn: async ({ signal }) => {
      const { wechat } = await api.siteInfo({}, { signal, quiet: true });
      if (wechat === '') return '';
      const { toDataURL } = await import('qrcode');
      return toDataURL(wechat, { width: 480, margin: 2 });
    },
    staleTime: Infinity,
    meta: { steady: true },
  });
  if (code.data === '') return <ToMissing />;
  return (
    <div className={`page ${css.wechat}`}>
      <header className="page-head">
        <h1>微信</h1>
      </header>
      {code.isPending && <Skeleton lines={6} />}
      {code.isError && !code.data && <QueryFailed query={code} />}
      {code.data && (
        <section className={`card ${css.trade}`}>
          <img className={css.code} src={code.data} width={240} height={240} alt="微信二维码" />
          <p>用微信扫一扫，关注鹊桥</p>
        </section>
      )}
    </div>
  );
};
