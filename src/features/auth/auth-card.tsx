import type { ReactNode } from 'react';
import css from './auth.module.css';

/** The frame of login and registration: what it is, its form, and the way to the other one. */
export const AuthCard = ({
  title,
  note,
  ways,
  other,
  onSubmit,
  children,
}: {
  title: string;
  note: string;
  /** Other ways than the form, below it. */
  ways?: ReactNode;
  /** Below all. */
  other: ReactNode;
  onSubmit: () => void;
  /** The fields and the button. */
  children: ReactNode;
}) => (
  <div className={`page ${css.auth}`}>
    <div className={css.authCard}>
      <img src="/icon.svg" alt="" width={56} height={56} />
      <h1>{title}</h1>
      <p className={css.authNote}>{note}</p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
      </form>
      {ways}
      <p className={css.authOther}>{other}</p>
    </div>
  </div>
);
