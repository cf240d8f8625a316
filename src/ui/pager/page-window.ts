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
