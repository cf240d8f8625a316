import { describe, expect, it } from 'vitest';
import { chatSearch } from '#src/features/chat/routes.ts';
import { homeSearch, redirectSearch } from '#src/features/session/routes.ts';
import { parseSearch, stringifySearch } from '#src/platform/search.ts';

describe('addresses', () => {
  it('keep text as text', () => {
    expect(homeSearch(parseSearch('?query=12&page=2&channel=public'))).toMatchObject({
      query: '12',
      page: 2,
      channel: 'public',
    });
    expect(stringifySearch({ query: 'a b&c', page: 2, model: undefined })).toBe(
      '?query=a+b%26c&page=2',
    );
  });

  it('drop what cannot be read', () => {
    expect(homeSearch(parseSearch('?page=-1&user_id=x&channel=secret&new=2'))).toEqual({});
    expect(chatSearch(parseSearch('?history_id=1e99&send=true')).send).toBeUndefined();
  });

  it('show one favourite by its number, as the documents have it, or beside it', () => {
    for (const address of ['?favorite=17', '?favorite=1&history_id=17'])
      expect(chatSearch(parseSearch(address))).toMatchObject({ history_id: 17, favorite: 1 });
    expect(chatSearch(parseSearch('?favorite=0&history_id=17')).favorite).toBeUndefined();
  });

  it('never lead to another site', () => {
    for (const to of ['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:x'])
      expect(redirectSearch({ to }).to).toBeUndefined();
    expect(redirectSearch({ to: '/help?page=start' }).to).toBe('/help?page=start');
    // A redirect writes it into a header, which takes no Chinese.
    expect(redirectSearch({ to: '/help?query=桥' }).to).toBe('/help?query=%E6%A1%A5');
  });
});
