import { useAuth } from '#src/platform/auth-store.ts';
import { Link } from '@tanstack/react-router';
import css from './api.module.css';
import { setFreshKey, useFreshKey } from './fresh-key.ts';
import { useKeys } from './key-queries.ts';

/** The key to ask with: one of one's own that is kept, or one that is pasted. */
export const KeyChoice = () => {
  const { signedIn } = useAuth();
  const key = useFreshKey();
  const keys = useKeys();
  const user = keys.data?.userinfo.user_id;
  const kept = keys.data?.list.filter((each) => each.kept && !each.paused) ?? [];
  const fullOf = (secret: string): string => `${user}-${secret}`;
  // One that was chosen by its name need not stand on the screen.
  const chosen = kept.some((each) => fullOf(each.api_key) === key);
  return (
    <>
      {kept.length > 0 && (
        <label>
          <span>自己的 API-KEY</span>
          <select value={chosen ? key : ''} onChange={(event) => setFreshKey(event.target.value)}>
            <option value="">请选择</option>
            {kept.map((each) => (
              <option key={each.id} value={fullOf(each.api_key)}>
                {each.name || each.mask}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        <span>{kept.length > 0 ? '或粘贴' : 'API-KEY'}</span>
        <input
          type="text"
          autoComplete="off"
          spellCheck={false}
          placeholder="完整的 API-KEY，不会保存"
          value={chosen ? '' : key}
          onChange={(event) => setFreshKey(event.target.value)}
        />
      </label>
      {signedIn && kept.length === 0 && (
        <p className={css.hint}>
          <Link to="/api">去创建一个 API-KEY</Link>
        </p>
      )}
    </>
  );
};
