import { useOfficialSite } from '@/platform/queries.ts';
import { usePageTitle } from '@/platform/use-page-title.ts';
import { EmptyState } from '@/ui/empty-state.tsx';
import { useEffect, useState } from 'react';
import css from './payment.module.css';

/** The official site's account on WeChat, as a code to scan. */
export const WechatScreen = () => {
  usePageTitle('微信');
  const site = useOfficialSite();
  const [picture, setPicture] = useState('');
  useEffect(() => {
    if (site === '') return;
    const draw = async () => {
      const { toDataURL } = await import('qrcode');
      setPicture(await toDataURL(`${site}/wechat`, { width: 440, margin: 2 }));
    };
    void draw();
  }, [site]);
  return (
    <div className={`page ${css.wechat}`}>
      <header className="page-head">
        <h1>微信</h1>
      </header>
      {site === '' ? (
        <EmptyState icon="link" text="这个站点没有微信账号。" />
      ) : (
        <section className={`card ${css.trade}`}>
          {picture !== '' && (
            <img className={css.code} src={picture} width={240} height={240} alt="微信二维码" />
          )}
          <p>用微信扫一扫，关注鹊桥</p>
        </section>
      )}
    </div>
  );
};
