import { ButtonLink } from '#src/ui/button.tsx';
import { BackHead } from '#src/ui/back-head.tsx';
import { keepLast, steady, useCall } from '#src/platform/call-query.ts';
import { Markdown } from '#src/widgets/markdown/markdown.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { LicenceLinks } from '#src/ui/licence-links.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { agreementKinds, type AgreementKind, agreementTitles } from '#contract/agreement-kinds.ts';
import { dateTime } from '#src/platform/format.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { SiteCheck } from '#src/widgets/findings/site-check.tsx';
import { codes, type CodeName, helpOfCodes } from '#contract/errors.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useDeferredValue, useState } from 'react';
import css from './help.module.css';

const route = getRouteApi('/help');

/** A text of its own below the list: while it comes, when it failed, and when it is there. */
const TextPage = ({
  title,
  page,
  children,
}: {
  title: string;
  page: Pick<UseQueryResult, 'isPending' | 'isError' | 'error' | 'isFetching' | 'refetch'>;
  children: ReactNode;
}) => {
  usePageTitle(title);
  return (
    <article className={`page ${css.help}`}>
      <BackHead to="/help" back="返回帮助目录" title={title} />
      <div className={`card ${css.helpText}`}>
        {page.isPending && <Skeleton lines={8} />}
        {page.isError && <QueryFailed query={page} />}
        {children}
      </div>
    </article>
  );
};

/** A page, or the section of it that answers an error. */
const HelpPage = ({
  slug,
  section,
  note,
}: {
  slug: string;
  section?: string | undefined;
  note?: string | undefined;
}) => {
  const owner = useAuth().user?.owner === true;
  const page = useCall('helpPage', { slug }, steady);
  const part = page.data?.content
    .split(/^(?=## )/m)
    .find((each) => each.startsWith(`## ${section}\n`));
  return (
    <TextPage title={page.data?.title ?? '帮助'} page={page}>
      {note && (
        <p className={css.code} role="note">
          {note}
        </p>
      )}
      {slug === 'trouble' && owner && <SiteCheck />}
      {page.data && <Markdown text={part ?? page.data.content} />}
      {page.data && part && (
        <Link to="/help" search={{ page: slug }} className={css.whole}>
          看整页：{page.data.title}
        </Link>
      )}
    </TextPage>
  );
};

/** What an error means, and what to do. */
const CodePage = ({ code }: { code: number }) => {
  const names = Object.keys(codes) as CodeName[];
  const name = names.find((each) => codes[each].code === code);
  const [slug = 'faq', section] = name ? helpOfCodes[name].split('#') : [];
  return (
    <HelpPage slug={slug} section={section} note={name && `错误 ${code}：${codes[name].text}`} />
  );
};

/** A text that people agree to, as it is now. */
const AgreementPage = ({ kind }: { kind: AgreementKind }) => {
  const page = useCall('agreement', { kind }, steady);
  return (
    <TextPage title={agreementTitles[kind]} page={page}>
      {page.data && (
        <>
          <p>
            第 {page.data.version} 版，{dateTime(page.data.created_at)}
          </p>
          <Markdown text={page.data.text} />
          {kind === 'privacy' && (
            <p>
              <Link to="/help" search={{ page: 'third-parties' }}>
                第三方清单：数据会交给谁
              </Link>
            </p>
          )}
        </>
      )}
    </TextPage>
  );
};

/** Who gets which data. */
const ThirdParties = () => {
  const page = useCall('thirdParties', {}, steady);
  return (
    <TextPage title="第三方清单" page={page}>
      {page.data && (
        <>
          <p>
            {page.data.shown
              ? page.data.list.length > 0
                ? '您的内容只在用到下面这些服务时交给它们，只交做这件事要的部分。按现在接上的服务列出。'
                : '现在没有把数据交给别的服务：都在这台服务器和它的网络里。'
              : '这个站点没有公布清单。想知道的话，请向站点的管理员询问。'}
          </p>
          <Markdown
            text={page.data.list
              .map(
                ({ name, purpose, data }) =>
                  `### ${name}\n\n- 用途：${purpose}\n- 交给它的：${data}`,
              )
              .join('\n\n')}
          />
        </>
      )}
    </TextPage>
  );
};

const HelpList = () => {
  usePageTitle('帮助');
  const search = route.useSearch();
  const [words, setWords] = useState(search.query ?? '');
  const query = useDeferredValue(words.trim()) || undefined;
  const list = useCall('helpList', { query }, { ...steady, ...keepLast });
  const pages = list.data?.list ?? [];
  return (
    <div className={`page ${css.help}`}>
      <header className="page-head">
        <h1>帮助</h1>
      </header>
      <label className="filter-box">
        <Icon name="search" size={18} />
        <span className="sr-only">在帮助中查找</span>
        <input
          type="search"
          value={words}
          maxLength={200}
          placeholder="想知道什么？"
          onChange={(event) => setWords(event.target.value)}
        />
      </label>
      {list.isPending && (
        <div className="card">
          <Skeleton lines={6} />
        </div>
      )}
      {list.isError && !list.data && <QueryFailed query={list} />}
      {list.data && pages.length === 0 && (
        <EmptyState
          icon="search"
          text="帮助里没有找到。换个说法试试，或者直接问内置助手。"
          action={
            <ButtonLink to="/" search={{ new: 1 }}>
              问内置助手
            </ButtonLink>
          }
        />
      )}
      <ul className={css.helpList}>
        {pages.map((page) => (
          <li key={page.slug}>
            <Link
              to="/help"
              search={{ page: page.slug, section: page.section || undefined }}
              className={css.helpLink}
            >
              <span>
                <strong>{page.section || page.title}</strong>
                <small>{page.section ? page.title : page.summary}</small>
              </span>
              <Icon name="forward" size={18} />
            </Link>
          </li>
        ))}
      </ul>
      <LicenceLinks />
    </div>
  );
};

export const HelpScreen = () => {
  const { page, section, code } = route.useSearch();
  if (code !== undefined) return <CodePage code={code} />;
  const kind = agreementKinds.find((each) => page === `agreement-${each}`);
  if (kind) return <AgreementPage kind={kind} />;
  if (page === 'third-parties') return <ThirdParties />;
  return page === undefined ? <HelpList /> : <HelpPage key={page} slug={page} section={section} />;
};
