import { defineConfig, devices } from '@playwright/test';
import { quickBrowser } from './tests/support/browser.ts';

const running = process.env['E2E_BASE_URL'];
const port = Number(process.env['E2E_PORT'] ?? 3987);
// Chromium stands in for Safari where WebKit cannot be had: viewport, touch and agent are the iPhone's.
const { defaultBrowserType: _, ...iphone } = devices['iPhone 14'];
// A phone's seven times as many pixels, painted without a graphics card, tell nothing more.
const plainPixels = { deviceScaleFactor: 1 };

export default defineConfig({
  testDir: 'tests/e2e',
  timeout: 60_000,
  expect: { timeout: 10_000 },
  fullyParallel: true,
  // Two cores have time for a third: much of what is tried waits.
  workers: 3,
  // A busy machine may spoil one try; a fault spoils both. Only the second one is traced: tracing
  // takes nearly as much of the processor as all the rest.
  retries: 1,
  forbidOnly: Boolean(process.env['CI']),
  reporter: [['list'], ['json', { outputFile: 'test-results/playwright.json' }]],
  outputDir: 'test-results/e2e',
  use: {
    baseURL: running ?? `http://127.0.0.1:${port}`,
    locale: 'zh-CN',
    timezoneId: 'Asia/Shanghai',
    // Two seconds of the processor for each test that stays. What the worker is for, and the
    // newcomer's whole way, allow it.
    serviceWorkers: 'block',
    trace: 'on-first-retry',
    screenshot: 'only-on-failure',
    launchOptions: quickBrowser,
  },
  projects: [
    { name: 'pixel', use: { ...devices['Pixel 7'], ...plainPixels } },
    // The Pixel tries everything; the other two what their size or kind may change.
    {
      name: 'iphone',
      use: { ...iphone, ...plainPixels, browserName: 'chromium' },
      grep: /newcomer|mid-stream|menus fit|wider than/,
    },
    {
      name: 'desktop',
      testIgnore:
        /attachments|background|export|image-services|markdown-safety|offline-writing|outbox-faults|phone-shell|sign-in/,
      // What does not depend on the window or the pointer.
      grepInvert:
        /a formula is|thinking is|failing service|too long a conv|empty (is|or)|survives|send once|sliders|without a network|system notice|in two browsers|\/error|help is|a suggestion|temporary chat|words from the library|mid-stream|token usage|five minutes|forced to be|own counts|runs out|129th|a public question|stands in an address|before the app is there|come without their stream/,
      use: { ...devices['Desktop Chrome'], viewport: { width: 1680, height: 1050 } },
    },
  ],
  ...(running
    ? {}
    : {
        webServer: {
          command: `node --import tsx tests/support/e2e-server.ts ${port}`,
          url: `http://127.0.0.1:${port}/api/health`,
          timeout: 90_000,
          gracefulShutdown: { signal: 'SIGTERM', timeout: 20_000 },
        },
      }),
});
