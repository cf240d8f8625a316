import { Link, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import css from './create-head.module.css';

/** Each with the addresses that are within it; the first is where it leads. */
const places = [
  ['发现', '/image/explore', '/image/public'],
  ['我的', '/image/private'],
  ['视频', '/video'],
] as const;

/** The class of what is begun from the head: on a phone its sign alone. */
export const createAct = css.act;

/** The class of a page with this head: as wide as the window. */
export const createPage = `page ${css.page}`;

/** The head of all that people make: the way between its places, and what can be begun there. */
export const CreateHead = ({ title, children }: { title: string; children: ReactNode }) => {
  const { pathname } = useLocation();
  return (
    <header className={css.head}>
      <h1 className="sr-only">{title}</h1>
      <nav className={css.places} aria-label="创作">
        {places.map(([name, ...addresses]) => (
          <Link
            key={name}
            to={addresses[0]}
            aria-current={addresses.some((each) => each === pathname) ? 'page' : undefined}
          >
            {name}
          </Link>
        ))}
      </nav>
      {children}
    </header>
  );
};
