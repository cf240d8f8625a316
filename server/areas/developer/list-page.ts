/** A page as OpenAI's lists have them, of rows of which one more was read than are shown. */
export const paged = <T extends { id: string }, R>(
  rows: readonly T[],
  most: number,
  view: (row: T) => R,
) => {
  const shown = rows.slice(0, most);
  return {
    json: {
      object: 'list',
      data: shown.map(view),
      first_id: shown[0]?.id ?? null,
      last_id: shown.at(-1)?.id ?? null,
      has_more: rows.length > most,
    },
  };
};
