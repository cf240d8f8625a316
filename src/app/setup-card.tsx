import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { Link } from '@tanstack/react-router';
import css from './setup.module.css';
import { stepTitles } from './setup-words.ts';

/** What is left of the first start, for the owner, until it is done or sent away. */
const SetupCard = ({ home = true }: { home?: boolean }) => {
  const { data } = useCall('setupState', {});
  const { busy, run } = useAct();
  if (!data || data.ended === 1) return null;
  const open = data.steps.filter(({ done }) => done === 0);
  return (
    <section className={home ? `${css.card} ${css.home}` : css.card} aria-label="起步">
      <span className={css.mark} aria-hidden="true">
        {data.steps.length - open.length}/{data.steps.length}
      </span>
      <Link to="/manager/setup" className={css.words}>
        <strong>起步：还有 {open.length} 步</strong>
        <small>{open.map(({ key }) => stepTitles[key]).join(' · ')}</small>
      </Link>
      <Button
        kind="ghost"
        size="small"
        busy={busy}
        aria-label="不再显示起步"
        onClick={() => void run(() => api.saveSetup({ ended: 1 }), '“管理”里随时能再打开')}
      >
        <Icon name="close" size={18} />
      </Button>
    </section>
  );
};

export default SetupCard;
