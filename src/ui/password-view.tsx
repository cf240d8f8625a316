import { useAuth } from '#src/platform/auth-store.ts';
import { useId, useState } from 'react';
import { Button } from './button.tsx';
import { DialogFrame } from './dialog-frame.tsx';
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
  const id = useId();
  const stepBack = () => answer(null);
  return (
    <DialogFrame
      title="输入密码确认"
      text="这一步关系到账号的安全，请再输入一次登录密码。"
      onStepBack={stepBack}
      onSubmit={() => {
        if (password !== '') answer(password);
      }}
    >
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
    </DialogFrame>
  );
};

export default PasswordView;
