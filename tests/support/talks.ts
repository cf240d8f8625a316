import type { TestClient } from './client.ts';

export interface ReadyTalk {
  title: string;
  exchanges: readonly (readonly [human: string, ai: string])[];
}

/** Sessions that stand there at once. Gives the uuid of the last one. */
export const bringTalks = async (
  client: TestClient,
  talks: readonly ReadyTalk[],
): Promise<string> => {
  const model = 'builtin-assistant';
  const sessions = talks.map(({ title, exchanges }) => ({
    title,
    model,
    messages: exchanges.map(([human, ai], at) => ({
      id: at + 1,
      prev: at,
      shown: true,
      human,
      ai,
      model,
      state: ai === '' ? 'none' : 'done',
      created_at: new Date(Date.now() - 86_400_000 + at * 60_000).toISOString(),
    })),
  }));
  const { uuid } = await client.call('importSessions', { data: { queqiao: 1, sessions } });
  return uuid ?? '';
};
