import { api } from '#src/platform/api.ts';

/** Leads to a server of tools, where its person agrees and comes back from. */
export const authorize = async (id: number): Promise<void> => {
  const { url } = await api.beginToolLogin({ id });
  window.location.assign(url);
};
