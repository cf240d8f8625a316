import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { getRouteApi } from '@tanstack/react-router';
import css from './api.module.css';
import { Console } from './console.tsx';
import { useOpenCalls } from './open-document.ts';

const route = getRouteApi('/api');

/** Every call with its address and what it does; a tap opens its fields and a place to try it. */
export const InterfaceTab = () => {
  const calls = useOpenCalls();
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const show = (id: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, open: id }), replace: true });
  const chosen = calls.data?.find(({ id }) => id === open);
  return (
    <div className={css.tabBody}>
      <p className={css.hint}>
        地址前加上 <code>{location.origin}</code>，请求头带{' '}
        <code>Authorization: Bearer API-KEY</code>。 完整的机器可读文档：
        <a href="/v1/openapi.json" target="_blank" rel="noreferrer">
          openapi.json
        </a>
      </p>
      {calls.isPending && (
        <div className="card">
          <Skeleton lines={8} />
        </div>
      )}
      {calls.isError && <QueryFailed query={calls} />}
      <ul className={css.calls}>
        {calls.data?.map((call) => (
          <li key={call.id}>
            <button type="button" onClick={() => show(call.id)}>
              <span className={css.method} data-method={call.method}>
                {call.method}
              </span>
              <span className={css.callWords}>
                <code>{call.path}</code>
                <small>{call.summary}</small>
              </span>
              <Icon name="forward" size={18} />
            </button>
          </li>
        ))}
      </ul>
      <Sheet
        open={chosen !== undefined}
        onClose={() => show(undefined)}
        title={chosen ? `${chosen.method} ${chosen.path}` : ''}
      >
        {chosen && <Console key={chosen.id} call={chosen} />}
      </Sheet>
    </div>
  );
};
