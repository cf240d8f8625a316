import { startMockOpenAi } from './mock-openai.ts';
import { startScratch } from './scratch.ts';
import { startServer } from './server.ts';

/**
 * The server under Playwright: the shipped bundle with its embedded database, and beside the
 * built-in assistant a channel to a service that speaks the OpenAI protocol.
 */
const port = Number(process.argv[2] ?? 3987);
const removeScratch = startScratch();
const mock = await startMockOpenAi();
const server = await startServer({
  embedded: true,
  port,
  env: {
    OPENAI_BASE_URL: mock.baseURL,
    OPENAI_API_KEY: 'sk-test',
    // The service has no pictures: what is asked of this model fails.
    OPENAI_MODELS: 'mock-chat,mock-vision,dall-e-3',
    CANVAS_SECONDS: '2',
    // Long enough for its progress to be seen.
    FILM_SECONDS: '2',
    PAYMENT_CHECK_SECONDS: '2',
    TRUST_PROXY: 'loopback',
  },
});
const end = async () => {
  await server.stop();
  await mock.close();
  removeScratch();
  process.exit(0);
};
process.once('SIGTERM', () => void end());
process.once('SIGINT', () => void end());
