import type { BrowserContext } from '@playwright/test';
import { startMockOpenAi, type MockOpenAi } from '#tests/support/mock-openai.ts';
import { startServer, type TestServer } from '#tests/support/server.ts';
import { enterAs } from '#tests/support/enter-as.ts';
import { TestClient } from '#tests/support/client.ts';

export interface PageWorld {
  server: TestServer;
  mock: MockOpenAi;
  client: TestClient;
  /** Makes the tabs of a context belong to the client's account. */
  signIn: (context: BrowserContext) => Promise<void>;
  stop: () => Promise<void>;
}

/** The shipped server with its own database, on a model service that writes what it is told to. */
export const startPageWorld = async (): Promise<PageWorld> => {
  const mock = await startMockOpenAi();
  const server = await startServer({
    embedded: true,
    env: {
      OPENAI_BASE_URL: mock.baseURL,
      OPENAI_API_KEY: 'key-of-tests',
      OPENAI_MODELS: 'mock',
      SIGNUP_TOKENS: '1000000000',
    },
  });
  const client = await TestClient.register(server.baseURL);
  return {
    server,
    mock,
    client,
    signIn: (context) => enterAs(context, client),
    stop: async () => {
      await server.stop();
      await mock.close();
    },
  };
};

/** When the service wrote the first and the last byte of a bench, epoch ms. */
export const benchLog = async (
  mock: MockOpenAi,
  id: string,
): Promise<{ firstByte: number; lastByte: number; tokens: number }> => {
  const response = await fetch(`http://127.0.0.1:${mock.port}/__mock/log/${id}`);
  return (await response.json()) as { firstByte: number; lastByte: number; tokens: number };
};
