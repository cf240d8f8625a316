import { useEffect } from 'react';
import { Icon } from '#src/ui/icon.tsx';
import { pageWindow } from './page-window.ts';
import css from './pager.module.css';

/**
 * Ways to the other pages of a list; nothing where there is but one. From an address of before some
 * of them went it leads to the last page there is, once it `isCounted` how many there are.
 */
export const Pager = ({
  page,
  count,
  isCounted = false,
  onPage,
}: {
  page: number;
  count: number;
  isCounted?: boolean;
  /** `instead`: the page takes the place of the one that is shown. */
  onPage: (page: number, instead?: boolean) => void;
}) => {
  const gone = isCounted && count > 0 && page > count;
  useEffect(() => {
    if (gone) onPage(count, true);
  });
  if (count < 2) return null;
  return (
    <nav className={css.pager} aria-label="分页">
      <button
        type="button"
        aria-label="上一页"
        disabled={page <= 1}
        onClick={() => onPage(page - 1)}
      >
        <Icon name="back" size={18} />
      </button>
      {pageWindow(page, count).map((each, index) =>
        each === 0 ? (
          <span key={`gap-${index}`}>…</span>
        ) : (
          <button
            key={each}
            type="button"
            aria-label={`第 ${each} 页`}
            aria-current={each === page ? 'page' : undefined}
            onClick={() => onPage(each)}
          >
            {each}
          </button>
        ),
      )}
      <button
        type="button"
        aria-label="下一页"
        disabled={page >= count}
        onClick={() => onPage(page + 1)}
      >
        <Icon name="forward" size={18} />
      </button>
    </nav>
  );
};
