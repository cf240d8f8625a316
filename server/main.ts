import { createApp } from './app.ts';
import type { Lifetime } from './lifetime.ts';
import { readSettings } from './settings.ts';
import { runProcess, say } from './stopping.ts';

const start = async (life: Lifetime): Promise<() => Promise<void>> => {
  const app = await createApp(readSettings(process.env), say, life);
  const { address, firstLink } = await app.listen();
  if (firstLink !== null) say(`第一次登录也可以打开：${firstLink}（24 小时内，只能用一次）`);
  say(`鹊桥已启动：${address}`);
  return () => app.drain(say);
};

await runProcess(start);
