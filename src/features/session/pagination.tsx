import { Icon } from '@/shared/ui/icon.tsx';

/** The pages to offer: first, last, and two on each side of the current one; 0 stands for a gap. */
export const pageWindow = (page: number, count: number): number[] => {
  const pages: number[] = [];
  for (let each = 1; each <= count; each += 1) {
    const near = Math.abs(each - page) <= 2;
    if (near || each === 1 || each === count) pages.push(each);
    else if (pages.at(-1) !== 0) pages.push(0);
  }
  return pages;
};

export const Pagination = ({
  page,
  count,
  onPage,
}: {
  page: number;
  count: number;
  onPage: (page: number) => void;
}) => {
  if (count < 2) return null;
  return (
    <nav className="pages" aria-label="分页">
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
