import pg from 'pg';
import type { In } from '#contract/calls.ts';
import { TestClient } from './client.ts';
import type { TestServer } from './server.ts';

/** Somebody with an API key. */
export interface ApiUser {
  userId: number;
  /** Whole, as it stands in the header. */
  key: string;
  keyId: number;
  /** Talks with the key instead of a login. */
  client: TestClient;
  /** The same person, logged in. */
  person: TestClient;
}

/** Runs statements on a server's database. */
export const onDatabase = async <T extends pg.QueryResultRow>(
  server: Pick<TestServer, 'databaseUrl'>,
  text: string,
  params: unknown[] = [],
): Promise<T[]> => {
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  try {
    return (await client.query<T>(text, params)).rows;
  } finally {
    await client.end();
  }
};

/** A new account with a key; `paid`: it had a membership once, so that it may use the API. */
export const apiUser = async (
  server: Pick<TestServer, 'baseURL' | 'databaseUrl'>,
  { paid = true, key: wanted = {} }: { paid?: boolean; key?: In<'genKey'> } = {},
): Promise<ApiUser> => {
  const person = await TestClient.register(server.baseURL);
  const { id: userId } = await person.call('userInfo', {});
  if (paid)
    await onDatabase(
      server,
      `UPDATE users SET vip_activated_at = now() - interval '90 days',
         vip_expired_at = now() - interval '1 day' WHERE id = $1`,
      [userId],
    );
  const made = await person.call('genKey', wanted);
  return {
    userId,
    key: made.full_key,
    keyId: made.id,
    client: new TestClient(server.baseURL, made.full_key),
    person,
  };
};
