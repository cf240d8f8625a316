import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { type MockOpenAi, startMockOpenAi } from './mock-openai.ts';
import { type ServerOptions, startServer, type TestServer } from './server.ts';

export interface Stage {
  server: TestServer;
  /** A look at what the server wrote. */
  database: pg.Client;
}

/** A server for all tests of a file and a look into its database; both end after them. */
export const stage = (options: ServerOptions = {}): Stage => {
  const made = {} as Stage;
  beforeAll(async () => {
    made.server = await startServer(options);
    made.database = new pg.Client({ connectionString: made.server.databaseUrl });
    await made.database.connect();
  });
  afterAll(async () => {
    await made.database?.end();
    await made.server?.stop();
  });
  return made;
};

/** The same with a fake model service; everybody who registers has tokens for many replies. */
export const stageWithModels = (
  models: string,
  more: Readonly<Record<string, string>> = {},
): Stage & { mock: MockOpenAi } => {
  const env: Record<string, string> = {
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODELS: models,
    SIGNUP_TOKENS: '100000000',
  };
  let mock: MockOpenAi;
  beforeAll(async () => {
    mock = await startMockOpenAi();
    Object.assign(env, more, { OPENAI_BASE_URL: mock.baseURL });
  });
  const made = stage({ env });
  afterAll(() => mock?.close());
  return Object.defineProperty(made, 'mock', { get: () => mock }) as Stage & { mock: MockOpenAi };
};
