import { readUnsent } from '#src/platform/unsent.ts';
import { Icon } from '#src/ui/icon.tsx';
import css from './sign-in-to-send.module.css';
import { Link, useLocation } from '@tanstack/react-router';

/** Somebody's login has ended while something of theirs still waits: it is kept and asked for. */
const SignInToSend = () => {
  const { pathname } = useLocation();
  const [first] = Object.entries(readUnsent()).filter(([account]) => account !== '');
  if (!first) return null;
  const { name, count } = first[1];
  return (
    <p className={css.unsent} role="status">
      <Icon name="lock" size={16} />
      <span>
        {name === '' ? '' : `「${name}」`}还有 {count} 条内容没有发出，登录同一个账号后继续发送
      </span>
      {pathname !== '/login' && <Link to="/login">登录</Link>}
    </p>
  );
};

export default SignInToSend;
