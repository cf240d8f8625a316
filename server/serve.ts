import { createApp } from './app.ts';
import type { Lifetime } from './lifetime.ts';
import { requirePort } from './listen.ts';
import { readSettings } from './settings.ts';
import { say } from './stopping.ts';

/**
 * Starts the server that an environment describes, and says where it is reached. Gives what lets
 * the work that runs come to its end; what it opened belongs to `life`.
 */
export const serve = async (
  env: NodeJS.ProcessEnv,
  life: Lifetime,
): Promise<() => Promise<void>> => {
  const settings = readSettings(env);
  await requirePort(settings);
  const app = await createApp(settings, say, life);
  const { address, firstLink } = await app.listen();
  if (firstLink !== null) say(`第一次登录也可以打开：${firstLink} （24 小时内，只能用一次）`);
  say(`鹊桥已启动：${address}`);
  return () => app.drain(say);
};
