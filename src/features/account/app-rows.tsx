import { install, useInstallWay } from '#src/platform/pwa-install.ts';
import { takeUpdate, useUpdateReady } from '#src/platform/pwa.ts';
import { PathIcon } from '#src/ui/icon.tsx';
import { InstallGuide } from '#src/widgets/install/install-guide.tsx';
import { useState } from 'react';
import css from './account.module.css';

const icons = {
  phone:
    'M8 3.500h8A1.500 1.500 0 0 1 17.500 5v14a1.500 1.500 0 0 1-1.500 1.500H8A1.500 1.500 0 0 1 6.500 19V5A1.500 1.500 0 0 1 8 3.500ZM11 17.500h2',
  update: 'M12 20a8 8 0 1 0-7.700-5.900M4 9.500v5h5M12 8v4.500l3 2',
} as const;

/** What can be done with the app itself now: put it on the home screen, take a new version. */
export const AppRows = () => {
  const way = useInstallWay();
  const update = useUpdateReady();
  const [guide, setGuide] = useState(false);
  const [taking, setTaking] = useState(false);
  // Installing by the browser's own question hides the row; the guide outlives it.
  if (way === 'none' && !update && !guide) return null;
  return (
    <>
      <ul className={css.rows}>
        {update && (
          <li>
            <button
              type="button"
              className={css.rowLink}
              disabled={taking}
              onClick={() => {
                setTaking(true);
                void takeUpdate();
              }}
            >
              <PathIcon path={icons.update} />
              {taking ? '正在更新…' : '更新到新版本'}
              <span className={css.rowDot} aria-hidden="true" />
            </button>
          </li>
        )}
        {way !== 'none' && (
          <li>
            <button
              type="button"
              className={css.rowLink}
              onClick={() => {
                if (way === 'ios') setGuide(true);
                else void install();
              }}
            >
              <PathIcon path={icons.phone} />
              添加到主屏幕
            </button>
          </li>
        )}
      </ul>
      <InstallGuide open={guide} onClose={() => setGuide(false)} />
    </>
  );
};
