/** What a text says; null where it is none, such as one of another version of the page. */
export const readJson = <T>(text: string | null | undefined): T | null => {
  try {
    return JSON.parse(text || 'null') as T | null;
  } catch {
    return null;
  }
};
