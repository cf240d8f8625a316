import type { BrowserContext, Page } from '@playwright/test';
import type { TestClient } from './client.ts';

/** What opens from now on is signed in from its first look, as the person of a client. */
export const enterAs = async (
  to: Pick<BrowserContext | Page, 'addInitScript'>,
  client: TestClient,
): Promise<void> => {
  const user = JSON.stringify(await client.call('userInfo', {}));
  await to.addInitScript(
    ([token, profile]) => {
      localStorage.setItem('queqiao.token', token);
      localStorage.setItem('queqiao.user', profile);
    },
    [client.token, user] as const,
  );
};
