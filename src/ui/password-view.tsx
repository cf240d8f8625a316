import { useAuth } from '@/platform/auth-store.ts';
import CenterPopup from 'antd-mobile/es/components/center-popup';
import { useId, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { useModal } from './modal.ts';
import css from './sheet-view.module.css';

const PasswordView = ({
  fault,
  answer,
}: {
  fault: string;
  answer: (password: string | null) => void;
}) => {
  const { user } = useAuth();
  const [password, setPassword] = useState('');
  const panel = useRef<HTMLFormElement>(null);
  const id = useId();
  const stepBack = () => answer(null);
  useModal(true, stepBack, panel);
  return (
    <CenterPopup
      visible
      getContainer={() => document.body}
      onMaskClick={stepBack}
      bodyClassName={css.dialogBody}
    >
      <form
        className={css.dialog}
        role="alertdialog"
        aria-modal="true"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-text`}
        tabIndex={-1}
        ref={panel}
        onSubmit={(event) => {
          event.preventDefault();
          if (password !== '') answer(password);
        }}
      >
        <h2 id={`${id}-title`}>输入密码确认</h2>
        <p id={`${id}-text`}>这一步关系到账号的安全，请再输入一次登录密码。</p>
        {/* For the browser's keeper of passwords, which may know several accounts. */}
        <input type="text" autoComplete="username" value={user?.account ?? ''} readOnly hidden />
        <input
          className="text-input"
          type="password"
          name="password"
          autoComplete="current-password"
          aria-label="登录密码"
          aria-invalid={fault !== ''}
          aria-describedby={fault === '' ? undefined : `${id}-fault`}
          autoFocus
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {fault !== '' && (
          <small id={`${id}-fault`} className={css.fault} role="alert">
            {fault}
          </small>
        )}
        <footer>
          <Button onClick={stepBack}>取消</Button>
          <Button kind="primary" type="submit" disabled={password === ''}>
            确认
          </Button>
        </footer>
      </form>
    </CenterPopup>
  );
};

export default PasswordView;
