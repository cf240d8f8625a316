import { usePageTitle } from '#src/platform/use-page-title.ts';
import type { ReactNode } from 'react';
import css from './manage-page.module.css';

/** A screen of the administration: its title, what can be done there, and what it shows. */
export const ManagePage = ({
  title,
  acts,
  children,
}: {
  title: string;
  acts?: ReactNode;
  children: ReactNode;
}) => {
  usePageTitle(`${title} · 管理`);
  return (
    <section className={css.page}>
      <header className={css.head}>
        <h1>{title}</h1>
        {acts && <div className={css.acts}>{acts}</div>}
      </header>
      {children}
    </section>
  );
};
