import { usePageTitle } from '@/shared/use-page-title.ts';
import { EmptyState } from '@/shared/ui/empty-state.tsx';
import { errorPageTexts } from '@contract/errors.ts';
import { getRouteApi, Link } from '@tanstack/react-router';

const route = getRouteApi('/error');

/** Document 1 §8: each code's text; a message in the address overrides it. */
export const ErrorScreen = () => {
  const { code, message } = route.useSearch();
  usePageTitle('出错了');
  const text = message ?? errorPageTexts[Number(code)] ?? '未知错误';
  const login = code === '1001' || code === '1002';
  return (
    <div className="page page-centre">
      <h1 className="sr-only">出错了</h1>
      <EmptyState
        icon="warning"
        text={text}
        action={
          <>
            {code && code !== '0' && <p className="tag">错误代码 {code}</p>}
            <div className="row">
              {login && (
                <Link className="button button-primary" to="/login">
                  去登录
                </Link>
              )}
              <Link
                className={login ? 'button' : 'button button-primary'}
                to="/"
                search={{ new: 1 }}
              >
                新建会话
              </Link>
              {code === '1025' && (
                <Link className="button" to="/" search={{ new: 1, tab: 'free' }}>
                  用免费模型
                </Link>
              )}
              <Link className="button" to="/">
                回到首页
              </Link>
            </div>
          </>
        }
      />
    </div>
  );
};
