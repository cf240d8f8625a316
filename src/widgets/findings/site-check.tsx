import type { SiteFinding } from '#contract/setup.ts';
import { api } from '#src/platform/api.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { useState } from 'react';
import { Findings } from './findings.tsx';
import css from './findings.module.css';

/** For the owner: looks at all that this site depends on, as `npm run doctor` does. */
export const SiteCheck = () => {
  const [found, setFound] = useState<SiteFinding[]>();
  const { busy, run } = useAct();
  const wrong = found?.filter(({ state }) => state === 'broken').length ?? 0;
  return (
    <section className={css.check} aria-label="检查这个站点">
      <Button
        kind="primary"
        busy={busy}
        onClick={() => void run(async () => setFound((await api.checkSite({})).list))}
      >
        {busy ? '正在检查…' : '检查这个站点'}
      </Button>
      {found && (
        <>
          <p>{wrong === 0 ? '没有发现问题。' : `有 ${wrong} 处要改。`}</p>
          <Findings list={found} />
        </>
      )}
    </section>
  );
};
