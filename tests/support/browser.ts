import { existsSync } from 'node:fs';

const first = (...paths: string[]) => paths.find((path) => existsSync(path));

/** Debian's Chromium where there is one; otherwise the browser that Playwright downloads. */
export const chromiumPath = first('/usr/bin/chromium', '/usr/bin/chromium-browser');

const headlessPath = first('/usr/bin/chromium-headless-shell') ?? chromiumPath;

/** What Playwright switches off by itself: a list of ours replaces its list. */
const offByPlaywright = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'DialMediaRouteProvider',
  'GlobalMediaControls',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'BlockOriginHeaderModificationOnRedirect',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'Translate',
  'AutoDeElevate',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
];
/**
 * The suggestions below the address are pages of their own, which every new window loads though
 * nobody sees them: more than a second of the processor for each test.
 */
const pagesOfTheBrowser = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'];

export const chromiumArgs = [
  `--disable-features=${[...offByPlaywright, ...pagesOfTheBrowser].join(',')}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const launch = (path: string | undefined) => ({
  args: chromiumArgs,
  ...(path ? { executablePath: path } : {}),
});

/** Chromium with all that a phone's has: notifications, badges, an app's window. */
export const wholeBrowser = launch(chromiumPath);

/** Chromium without a window, which takes a third less of the processor; the whole one stands in for it. */
export const quickBrowser = launch(headlessPath);
