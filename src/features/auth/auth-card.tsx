import type { ReactNode } from 'react';
import './auth.css';

/** The frame of login and registration: what it is, its form, and the way to the other one. */
export const AuthCard = ({
  title,
  note,
  other,
  onSubmit,
  children,
}: {
  title: string;
  note: string;
  /** Below the form. */
  other: ReactNode;
  onSubmit: () => void;
  /** The fields and the button. */
  children: ReactNode;
}) => (
  <div className="page auth">
    <div className="auth-card">
      <img src="/icon.svg" alt="" width={56} height={56} />
      <h1>{title}</h1>
      <p className="auth-note">{note}</p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
      </form>
      <p className="auth-other">{other}</p>
    </div>
  </div>
);
