import { api } from './api.ts';

/** Has the browser save what is at an address. @param name left out: as the server calls it */
export const saveFrom = (address: string, name = ''): void => {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
};

/** Hands something to the person as a file. */
export const saveBlob = (blob: Blob, name: string): void => {
  const url = URL.createObjectURL(blob);
  saveFrom(url, name);
  // The browser has taken the address up by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};

/** Saves what is one's own, by a ticket of a minute. @throws ApiError */
export const saveOwn = async (path: string, query: Record<string, string> = {}): Promise<void> => {
  const { ticket } = await api.ticket({});
  saveFrom(`${path}?${new URLSearchParams({ ...query, ticket }).toString()}`);
};
