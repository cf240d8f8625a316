import { Tag } from '#src/ui/chip.tsx';
import { ButtonLink } from '#src/ui/button.tsx';
import { readDraft, writeDraft } from '#src/platform/draft.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { isLoginOpen } from '#src/platform/login-ended.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { errorPageTexts } from '#contract/page-errors.ts';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Bridge } from './bridge.tsx';

const route = getRouteApi('/error');

/** Words for a session that takes none any more wait in the box of the next one. */
const carryDraft = (uuid: string) => {
  const words = readDraft(uuid);
  if (words === '') return;
  writeDraft('home', [readDraft('home'), words].filter((text) => text !== '').join('\n'));
  writeDraft(uuid, '');
};

/** Document 1 §8: each code's text; a message in the address overrides it. */
export const ErrorScreen = () => {
  const { code, message, uuid } = route.useSearch();
  const { signedIn } = useAuth();
  usePageTitle('出错了');
  const insufficient = code === '1025' || code === '1026' || code === '1027';
  // A private one may be the visitor's own.
  const own = code === '1432' && uuid !== undefined && !signedIn;
  const ended = own && isLoginOpen();
  const told = message ?? errorPageTexts[Number(code)] ?? '未知错误';
  const text = ended ? '登录已失效，登录之后就回到这个会话' : told;
  const login = code === '1001' || code === '1002' || own;
  // The way back there ends here again.
  const gone = code === '1432' || code === '1433' || code === '3001' || login;
  const first = login || insufficient || code === '1024' ? 'button' : 'button button-primary';
  return (
    <div className="page page-centre">
      <h1 className="sr-only">出错了</h1>
      <EmptyState
        image={<Bridge />}
        text={text}
        action={
          <>
            {code && code !== '0' && !ended && (
              <Link to="/help" search={{ code: Number(code) || undefined }}>
                <Tag>错误代码 {code} · 怎么办</Tag>
              </Link>
            )}
            <div className="row">
              {login && (
                <ButtonLink
                  kind="primary"
                  to="/login"
                  search={own ? { back: `/chat?uuid=${uuid}` } : {}}
                >
                  去登录
                </ButtonLink>
              )}
              {insufficient && (
                <>
                  <ButtonLink kind="primary" to="/" search={{ new: 1, tab: 'free' }}>
                    用免费模型
                  </ButtonLink>
                  <ButtonLink to="/account" search={{ tab: 'recharge' }} replace>
                    去充值
                  </ButtonLink>
                </>
              )}
              {code === '1024' && (
                <ButtonLink kind="primary" to="/account" search={{ tab: 'vip' }}>
                  开通会员
                </ButtonLink>
              )}
              {uuid && !gone && (
                <ButtonLink to="/chat" search={{ uuid }}>
                  返回会话
                </ButtonLink>
              )}
              <Link
                className={first}
                to="/"
                search={{ new: 1 }}
                onClick={() => {
                  if (uuid && gone) carryDraft(uuid);
                }}
              >
                新建会话
              </Link>
              <ButtonLink to="/">回到首页</ButtonLink>
            </div>
          </>
        }
      />
    </div>
  );
};
