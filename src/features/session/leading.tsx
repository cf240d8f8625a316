import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { Arriving } from '#src/widgets/conversation/arriving.tsx';
import css from './home.module.css';

/** In the place of home from the press that begins a session until it opens: its question on its way. */
export const Leading = ({ words, onBack }: { words: string; onBack: () => void }) => (
  <div className={css.leading} aria-busy="true" aria-label="正在打开会话">
    <div className={css.leadingHead}>
      <Button kind="ghost" size="icon" aria-label="返回" onClick={onBack}>
        <Icon name="back" size={22} />
      </Button>
    </div>
    {words !== '' && <Arriving words={words} />}
  </div>
);
