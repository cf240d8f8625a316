import { createApp } from './app.ts';
import { StartupError } from './db/startup-error.ts';
import { readSettings } from './settings.ts';
import { untilAsked } from './stopping.ts';

const say = (text: string) => process.stdout.write(`${text}\n`);
const complain = (error: unknown) => {
  const text = error instanceof StartupError ? error.message : error;
  process.stderr.write(`${text instanceof Error ? (text.stack ?? text.message) : String(text)}\n`);
};

const asked = untilAsked();

try {
  const app = await createApp(readSettings(process.env), say);
  const address = await app.listen().catch(async (error: unknown) => {
    await app.close();
    throw error;
  });
  say(`鹊桥已启动：${address.replace('0.0.0.0', 'localhost')}`);
  await asked;
  say('正在停止：等正在写的回复写完，最多十秒。再按一次立即结束');
  await app.close();
  process.exit(0);
} catch (error) {
  complain(error);
  process.exit(1);
}
