/** What a text says; `otherwise` where it says nothing or is none, such as another version's. */
export const readJson = <T>(text: string | null | undefined, otherwise: T): T => {
  try {
    return (JSON.parse(text || 'null') as T | null) ?? otherwise;
  } catch {
    return otherwise;
  }
};
