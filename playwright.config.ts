import { defineConfig, devices } from '@playwright/test';
import { quickBrowser, wholeBrowser } from './tests/support/browser.ts';

const running = process.env['E2E_BASE_URL'];
const port = Number(process.env['E2E_PORT'] ?? 3987);
// Chromium stands in for Safari where WebKit cannot be had: viewport, touch and agent are the iPhone's.
const { defaultBrowserType: _, ...iphone } = devices['iPhone 14'];
// A phone's seven times as many pixels, painted without a graphics card, tell nothing more.
const plainPixels = { deviceScaleFactor: 1 };

const ownServers =
  /account.(money|screen|security|told)|chat.tools|every-address|first-hour|e2e.manage|e2e.speech|e2e.train|e2e.video/;

export default defineConfig({
  testDir: 'tests/e2e',
  timeout: 120_000,
  expect: { timeout: 20_000 },
  fullyParallel: true,
  // Two cores have time for a third: much of what is tried waits.
  workers: 3,
  // A busy machine may spoil a try; a fault spoils both, and `npm test` tries it once more with nothing
  // beside it. Only the second one is traced: tracing takes nearly as much of the processor as all the
  // rest.
  retries: 1,
  forbidOnly: Boolean(process.env['CI']),
  reporter: [['list'], ['json', { outputFile: 'test-results/playwright.json' }]],
  outputDir: 'test-results/e2e',
  use: {
    baseURL: running ?? `http://127.0.0.1:${port}`,
    locale: 'zh-CN',
    timezoneId: 'Asia/Shanghai',
    // Two seconds of the processor for each test that stays.
    serviceWorkers: 'block',
    trace: 'on-first-retry',
    screenshot: 'only-on-failure',
    launchOptions: quickBrowser,
  },
  // One worker each for the few tests of the others: every worker costs its start and its browser's.
  projects: [
    {
      // What notifications, badges and service workers need. In the headless shell a page with a
      // worker crashes now and then.
      name: 'pixel-whole',
      workers: 1,
      testMatch: /background|consent-away|full-disk|main-job|phone-shell/,
      use: {
        ...devices['Pixel 7'],
        ...plainPixels,
        launchOptions: wholeBrowser,
        serviceWorkers: 'allow',
      },
    },
    {
      // Its server is one for all of its tests, which take the longest: begun last, others would
      // have nothing left to do beside them.
      name: 'pixel-services',
      testMatch: /image-services/,
      use: { ...devices['Pixel 7'], ...plainPixels },
    },
    {
      // Each of these has servers of its own, begun by the worker that runs it: one worker begins
      // each once.
      name: 'pixel-places',
      workers: 1,
      testMatch: ownServers,
      grepInvert: /on a desktop/,
      use: { ...devices['Pixel 7'], ...plainPixels },
    },
    // The Pixel tries everything; these two what their size or kind may change: a wide window has other
    // boxes for some of it, and such tests carry the tag @wide.
    {
      name: 'iphone',
      workers: 1,
      use: { ...iphone, ...plainPixels, browserName: 'chromium' },
      grep: /newcomer|menus fit/,
    },
    {
      name: 'desktop',
      workers: 1,
      grep: /newcomer|menus fit|a wide window|on a desktop|@wide/,
      use: { ...devices['Desktop Chrome'], viewport: { width: 1680, height: 1050 } },
    },
    {
      name: 'pixel',
      testIgnore: [
        /background|consent-away|full-disk|image-services|main-job|phone-shell|wide-window/,
        ownServers,
      ],
      grepInvert: /on a desktop/,
      use: { ...devices['Pixel 7'], ...plainPixels },
    },
  ],
  ...(running
    ? {}
    : {
        // One database cluster for all servers that the tests start.
        globalSetup: './tests/support/shared-database.ts',
        webServer: {
          command: `node --import tsx tests/support/e2e-server.ts ${port}`,
          url: `http://127.0.0.1:${port}/api/health`,
          timeout: 90_000,
          gracefulShutdown: { signal: 'SIGTERM', timeout: 20_000 },
        },
      }),
});
