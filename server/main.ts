import { createApp } from './app.ts';
import { StartupError } from './db/startup-error.ts';
import { readSettings } from './settings.ts';

const say = (text: string) => process.stdout.write(`${text}\n`);

const start = async (): Promise<void> => {
  const app = await createApp(readSettings(process.env), say);
  const address = await app.listen();
  say(`鹊桥已启动：${address.replace('0.0.0.0', 'localhost')}`);

  let ending = false;
  const end = () => {
    if (ending) process.exit(1);
    ending = true;
    say('正在停止：等正在写的回复写完，最多十秒。再按一次立即结束');
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`停止时出错：${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
};

try {
  await start();
} catch (error) {
  const text = error instanceof StartupError ? error.message : error;
  process.stderr.write(`${text instanceof Error ? (text.stack ?? text.message) : String(text)}\n`);
  process.exit(1);
}
