import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import css from './ask-agreements.module.css';

/** Asks somebody with an account to agree to what is new, or what they have not agreed to. */
const AskAgreements = () => {
  const { data, refetch } = useCall('agreements', {});
  const { busy, run } = useAct();
  const [later, setLater] = useState(false);
  // Something was refused for want of it: now it cannot wait.
  const [now, setNow] = useState(false);
  useEffect(() => {
    const again = () => {
      setLater(false);
      setNow(true);
      void refetch();
    };
    addEventListener('agree', again);
    return () => removeEventListener('agree', again);
  }, [refetch]);
  const open = (data?.list ?? []).filter(({ version, agreed }) => agreed < version);
  if (!data?.required || open.length === 0) return null;
  return (
    <Sheet unasked={!now} open={!later} onClose={() => setLater(true)} title="请看一看协议">
      <div className={css.ask}>
        <p>请看过下面的协议，同意之后才能继续发送和生成。不同意也可以看、导出、删除或注销账号。</p>
        <ul>
          {open.map(({ kind, title, created_at: at }) => (
            <li key={kind}>
              <Link to="/help" search={{ page: `agreement-${kind}` }}>
                《{title}》
              </Link>
              <small>{at.slice(0, 10)} 更新</small>
            </li>
          ))}
        </ul>
        <Button
          kind="primary"
          busy={busy}
          onClick={() =>
            void run(
              () => api.agree({ agreed: open.map(({ kind, version }) => ({ kind, version })) }),
              '已同意',
            )
          }
        >
          同意
        </Button>
      </div>
    </Sheet>
  );
};

export default AskAgreements;
