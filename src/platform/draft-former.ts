/** Where forms and notices kept what was typed before there was one store of drafts. */
const formPrefix = 'queqiao.form-draft.';
const noticePrefix = 'queqiao.notice-draft.';

/** What an earlier version of the page kept of forms, by the key of its draft; taken out there. */
export const formerDrafts = (): [key: string, text: string][] => {
  try {
    return Object.keys(localStorage).flatMap((place): [string, string][] => {
      const isNotice = place.startsWith(noticePrefix);
      if (!isNotice && !place.startsWith(formPrefix)) return [];
      const value = localStorage.getItem(place) ?? '';
      localStorage.removeItem(place);
      return isNotice
        ? [[`form:notice.${place.slice(noticePrefix.length)}`, JSON.stringify({ text: value })]]
        : [[`form:${place.slice(formPrefix.length)}`, value]];
    });
  } catch {
    // Forbidden storage holds nothing.
    return [];
  }
};
