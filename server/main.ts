import { createApp } from './app.ts';
import type { Lifetime } from './lifetime.ts';
import { readSettings } from './settings.ts';
import { runProcess, say } from './stopping.ts';

const start = async (life: Lifetime): Promise<() => Promise<void>> => {
  const app = await createApp(readSettings(process.env), say, life);
  const address = await app.listen();
  say(`鹊桥已启动：${address.replace('0.0.0.0', 'localhost')}`);
  return () => app.drain(say);
};

await runProcess(start);
