import { PathIcon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import css from './install-guide.module.css';

const icons = {
  share:
    'M12 15V3.5M8 7l4-3.500L16 7M8 10.500H6.500A1.500 1.500 0 0 0 5 12v7a1.500 1.500 0 0 0 1.500 1.500h11A1.500 1.500 0 0 0 19 19v-7a1.500 1.500 0 0 0-1.500-1.500H16',
  add: 'M7 3.500h10A3.500 3.500 0 0 1 20.500 7v10a3.500 3.500 0 0 1-3.500 3.500H7A3.500 3.500 0 0 1 3.500 17V7A3.500 3.500 0 0 1 7 3.500ZM12 8v8M8 12h8',
} as const;

/** iPhone and iPad have no offer of their own: how it is done by hand. */
export const InstallGuide = ({ open, onClose }: { open: boolean; onClose: () => void }) => (
  <Sheet open={open} onClose={onClose} title="添加到主屏幕">
    <div className={css.installApp}>
      <img src="/icon.svg" alt="" width={56} height={56} />
      <p>
        <strong>鹊桥</strong>
        <span>像应用一样打开：全屏、离线可读、有新回答会通知</span>
      </p>
    </div>
    <ol className={css.installSteps}>
      <li>
        点浏览器的分享按钮，没有时先点“…”
        <PathIcon path={icons.share} size={24} />
      </li>
      <li>
        向下找到“添加到主屏幕”
        <PathIcon path={icons.add} size={24} />
      </li>
      <li>点右上角的“添加”</li>
    </ol>
    <p className={css.installNote}>在微信等应用里打开时，请先选“在 Safari 中打开”。</p>
  </Sheet>
);
