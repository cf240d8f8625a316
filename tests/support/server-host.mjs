/**
 * Serves for one test after another: a server costs a second of the processor to load, and as much
 * again until its code is quick, and a process that has served before has paid both. Messages come
 * from `server.ts`: an environment starts a server, `stop` ends it as SIGTERM would.
 */
const built = (name) => import(new URL(`../../dist/server/${name}.js`, import.meta.url).href);
const [{ createLifetime }, { serve }] = await Promise.all([built('lifetime'), built('serve')]);

let end = async () => undefined;

const start = async (env) => {
  const life = createLifetime();
  let drain;
  end = async () => {
    await drain?.();
    await life.end();
  };
  drain = await serve(env, life);
};

process.on('message', (message) => {
  const work = message === 'stop' ? end() : start(message);
  work.then(
    () => process.send('done'),
    (error) => {
      process.stderr.write(`${error?.stack ?? String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on('SIGTERM', () => void end().finally(() => process.exit(0)));
process.on('disconnect', () => process.exit(0));
