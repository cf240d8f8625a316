import { useNavigate } from '@tanstack/react-router';

/**
 * Changes what stands in the address of a list: filters, sort and page. A change of anything but
 * the page leads to the first one; what is empty is taken out.
 */
export const useTableSearch = () => {
  const navigate = useNavigate();
  return (change: Record<string, string | number | undefined>, instead = false) => {
    const shown = Object.fromEntries(
      Object.entries(change).map(([key, value]) => [key, value === '' ? undefined : value]),
    );
    const page = 'page' in change ? {} : { page: undefined };
    void navigate({
      to: '.',
      search: ((before: object) => ({ ...before, ...page, ...shown })) as never,
      replace: instead || !('page' in change),
    });
  };
};
