import { useAuth } from '#src/platform/auth-store.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { EmptyApi } from './empty-api.tsx';
import { getRouteApi, Link } from '@tanstack/react-router';
import css from './api.module.css';
import { ExampleTab } from './example-tab.tsx';
import { InterfaceTab } from './interface-tab.tsx';
import { KeyTab } from './key-tab.tsx';
import { LogTab } from './log-tab.tsx';
import { PlaygroundTab } from './playground-tab.tsx';
import type { ApiTab } from './developer-search.ts';
import { UsageTab } from './usage-tab.tsx';

const route = getRouteApi('/api');

const tabs: readonly { tab: ApiTab; label: string }[] = [
  { tab: 'api-key', label: 'API-KEY' },
  { tab: 'playground', label: '试一试' },
  { tab: 'example', label: '代码示例' },
  { tab: 'interface', label: '接口列表' },
  { tab: 'usage', label: '用量统计' },
  { tab: 'log', label: '调用记录' },
];

const SignIn = ({ text }: { text: string }) => (
  <EmptyApi
    text={text}
    action={
      <Link className="button button-primary" to="/login" search={{ back: '/api' }}>
        登录
      </Link>
    }
  />
);

/** What developers need: keys, code to copy, every call with a place to try it, and what was used. */
export const ApiScreen = () => {
  const { tab = 'api-key' } = route.useSearch();
  const { signedIn } = useAuth();
  usePageTitle('开发者 API');
  return (
    <div className="page">
      <header className="page-head">
        <h1>开发者 API</h1>
      </header>
      <nav className={`strip ${css.tabs}`} aria-label="开发者 API">
        {tabs.map(({ tab: name, label }) => (
          <Link
            key={name}
            to="/api"
            search={name === 'api-key' ? {} : { tab: name }}
            aria-current={tab === name ? 'page' : undefined}
            activeOptions={{ exact: true, includeSearch: true, explicitUndefined: true }}
            replace
          >
            {label}
          </Link>
        ))}
      </nav>
      {tab === 'api-key' &&
        (signedIn ? (
          <KeyTab />
        ) : (
          <SignIn text="登录之后可以创建 API-KEY，用自己的程序调用这里的模型。" />
        ))}
      {tab === 'playground' && <PlaygroundTab />}
      {tab === 'example' && <ExampleTab />}
      {tab === 'log' &&
        (signedIn ? <LogTab /> : <SignIn text="登录之后可以看到每一次 API 调用。" />)}
      {tab === 'interface' && <InterfaceTab />}
      {tab === 'usage' &&
        (signedIn ? <UsageTab /> : <SignIn text="登录之后可以看到每个 API-KEY 的用量。" />)}
    </div>
  );
};
