import { Icon } from '#src/ui/icon.tsx';
import css from './coming-tile.module.css';
import type { Coming } from './picker-intake.ts';

/** One on its way to the server, or one that did not get there. */
export const ComingTile = ({
  coming,
  onRetry,
  onRemove,
}: {
  coming: Coming;
  onRetry: () => void;
  onRemove: () => void;
}) => (
  <li
    className={`${css.pickerTile} ${css.pickerComing}`}
    data-failed={coming.error !== '' || undefined}
  >
    {coming.preview !== '' && <img src={coming.preview} alt="" />}
    {coming.error === '' ? (
      <span
        className={css.pickerProgress}
        role="progressbar"
        aria-label={`正在上传 ${coming.name}`}
        aria-valuenow={Math.round(coming.progress * 100)}
      >
        {Math.round(coming.progress * 100)}%
      </span>
    ) : (
      <span className={css.pickerFailed} role="alert">
        上传失败：{coming.error}
        {!coming.refused && (
          <button type="button" onClick={onRetry}>
            重试
          </button>
        )}
      </span>
    )}
    <button
      type="button"
      className={`round ${css.pickerRemove}`}
      aria-label="不上传这张"
      onClick={onRemove}
    >
      <Icon name="close" size={14} />
    </button>
  </li>
);
