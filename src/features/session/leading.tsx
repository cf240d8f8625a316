import { Arriving } from '#src/widgets/conversation/arriving.tsx';
import css from './home.module.css';

/** In the place of home from the press that begins a session until it is open: its question on its way. */
export const Leading = ({ words }: { words: string }) => (
  <div className={css.leading} aria-busy="true" aria-label="正在打开会话">
    <div className={css.leadingHead} />
    {words !== '' && <Arriving words={words} />}
  </div>
);
