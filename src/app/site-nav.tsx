import { useOfficialSite } from '#src/platform/queries.ts';
import css from './site-nav.module.css';

/** Where the official site has what (document 1 §2). */
const links: readonly (readonly [text: string, path: string])[] = [
  ['首页', '/'],
  ['博客', '/blog'],
  ['下载', '/download'],
  ['问答', '/forum'],
  ['客服支持', '/support'],
  ['AI 助手', '/assistant'],
  ['API', '/api'],
  ['代码托管', '/code'],
  ['相关产品', '/products'],
  ['赞助', '/sponsor'],
];

/** The top navigation: nothing where no official site is set. */
const SiteNav = () => {
  const site = useOfficialSite();
  if (site === '') return null;
  return (
    <nav className={css.siteNav} aria-label="官方网站">
      {links.map(([text, path]) => (
        <a key={path} href={site + path} target="_blank" rel="noreferrer">
          {text}
        </a>
      ))}
    </nav>
  );
};

export default SiteNav;
