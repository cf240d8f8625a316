import { api } from '#src/platform/api.ts';

/** Has the browser fetch a file that is one's own, by a ticket of a minute. @throws ApiError */
export const fetchFile = async (path: string, query: Record<string, string>): Promise<void> => {
  const { ticket } = await api.ticket({});
  const link = document.createElement('a');
  link.href = `${path}?${new URLSearchParams({ ...query, ticket }).toString()}`;
  link.download = '';
  document.body.append(link);
  link.click();
  link.remove();
};
