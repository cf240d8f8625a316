import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'undici';
import { freePort } from './free-port.ts';
import { scratchFolder } from './scratch.ts';

/**
 * Browsers of other engines than Chromium's, driven by what both of them understand: WebKitGTK's by
 * WebDriver, Firefox by WebDriver BiDi. Pointers and keys are the same actions in both.
 */
export interface Driven {
  /** Loads an address and waits until it is there. */
  goto: (url: string) => Promise<void>;
  /** The value of a JavaScript expression in the page; promises are awaited. @throws Error of the page */
  read: <T>(expression: string) => Promise<T>;
  /** Presses and lets go at a place of the window, px. */
  press: (x: number, y: number) => Promise<void>;
  key: (key: string) => Promise<void>;
  /** Kills the browser, or where its storage would go with it the page, and opens another. */
  restart: () => Promise<void>;
  end: () => Promise<void>;
}

export interface Engine {
  name: string;
  /** Why it can not be had here; empty: it can. */
  missing: string;
  start: () => Promise<Driven>;
}

const first = (...paths: string[]) => paths.find((each) => existsSync(each)) ?? '';
const window = { width: 412, height: 860 };

const untilTrue = async (what: string, look: () => Promise<boolean> | boolean): Promise<void> => {
  const end = performance.now() + 20_000;
  while (!(await look())) {
    if (performance.now() > end) throw new Error(`${what} takes too long`);
    await sleep(50);
  }
};

/** Ends a process that leads a group, and all of its group. */
const endGroup = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  process.kill(-child.pid, 'SIGKILL');
  await gone;
};

const pressActions = (x: number, y: number) => [
  {
    type: 'pointer',
    id: 'finger',
    parameters: { pointerType: 'mouse' },
    actions: [
      { type: 'pointerMove', x: Math.round(x), y: Math.round(y), duration: 0 },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ],
  },
];
const keyActions = (value: string) => [
  {
    type: 'key',
    id: 'keys',
    actions: [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ],
  },
];
/** Answers and faults alike come back as text: both protocols have their own ways for values. */
const asText = (expression: string) => `(async () => {
  try { return JSON.stringify({ value: await (${expression}) }); }
  catch (error) { return JSON.stringify({ fault: String(error) }); }
})()`;
const fromText = (text: string): unknown => {
  const { value, fault } = JSON.parse(text) as { value: unknown; fault?: string };
  if (fault !== undefined) throw new Error(fault);
  return value;
};

const webkitDriver = first('/usr/bin/WebKitWebDriver');
const miniBrowser = first(
  '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser',
  '/usr/lib/aarch64-linux-gnu/webkit2gtk-4.1/MiniBrowser',
);
const xvfb = first('/usr/bin/xvfb-run');

const startWebKit = async (): Promise<Driven> => {
  const port = await freePort();
  const driver = spawn(
    xvfb,
    ['-a', '-s', '-screen 0 800x1000x24', webkitDriver, '--host=127.0.0.1', `--port=${port}`],
    {
      env: { ...process.env, WEBKIT_DISABLE_COMPOSITING_MODE: '1' },
      stdio: 'ignore',
      detached: true,
    },
  );
  const call = async <T>(method: string, place: string, body?: object): Promise<T> => {
    const answer = await fetch(`http://127.0.0.1:${port}${place}`, {
      method,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const { value } = (await answer.json()) as { value: T & { error?: string; message?: string } };
    if (!answer.ok) throw new Error(`${place}: ${value.error} ${value.message}`);
    return value;
  };
  await untilTrue('WebKitWebDriver', () =>
    call('GET', '/status').then(
      () => true,
      () => false,
    ),
  );
  const options = { binary: miniBrowser, args: ['--automation'] };
  const { sessionId } = await call<{ sessionId: string }>('POST', '/session', {
    capabilities: {
      alwaysMatch: {
        browserName: 'MiniBrowser',
        // It waits forever for a page that its service worker gives without a network.
        pageLoadStrategy: 'none',
        // A script whose page goes away is never answered.
        timeouts: { script: 3_000 },
        'webkitgtk:browserOptions': options,
      },
    },
  });
  const of = (place: string) => `/session/${sessionId}${place}`;
  await call('POST', of('/window/rect'), window);
  const read = async <T>(expression: string): Promise<T> =>
    fromText(
      await call('POST', of('/execute/async'), {
        script: `const done = arguments[0]; ${asText(expression)}.then(done);`,
        args: [],
      }),
    ) as T;
  return {
    goto: async (url) => {
      await read('window.left = true').catch(() => undefined);
      await call('POST', of('/url'), { url });
      const isThere = 'window.left === undefined && document.readyState === "complete"';
      await untilTrue(url, () => read<boolean>(isThere).catch(() => false));
    },
    read,
    press: async (x, y) => {
      await call('POST', of('/actions'), { actions: pressActions(x, y) });
    },
    key: async (key) => {
      await call('POST', of('/actions'), { actions: keyActions(key) });
    },
    // An automated MiniBrowser keeps nothing once it is closed, and ends with its page's process: the
    // page goes without a word, and another begins.
    restart: async () => {
      const { handle } = await call<{ handle: string }>('POST', of('/window/new'), {
        type: 'window',
      });
      await call('DELETE', of('/window'));
      await call('POST', of('/window'), { handle });
      await call('POST', of('/window/rect'), window);
    },
    end: async () => {
      await call('DELETE', of('')).catch(() => undefined);
      await endGroup(driver);
    },
  };
};

const firefox = first('/usr/bin/firefox-esr', '/usr/bin/firefox');
const firefoxPrefs = {
  'remote.active-protocols': 1,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'browser.startup.page': 0,
  'browser.sessionstore.resume_from_crash': false,
  'toolkit.startup.max_resumed_crashes': -1,
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.update.enabled': false,
  'extensions.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'network.proxy.type': 0,
  'intl.accept_languages': 'zh-CN',
  // Refused, as most people do.
  'permissions.default.microphone': 2,
};

const startFirefox = async (): Promise<Driven> => {
  const profile = scratchFolder('firefox');
  mkdirSync(profile, { recursive: true });
  const prefs = Object.entries(firefoxPrefs).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  writeFileSync(path.join(profile, 'user.js'), prefs.join('\n'));
  let browser: ChildProcess;
  let line: WebSocket | undefined;
  let context = '';
  let count = 0;
  const waiting = new Map<
    number,
    { resolve: (value: never) => void; reject: (error: Error) => void }
  >();
  const call = <T>(method: string, params: object): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      count += 1;
      waiting.set(count, { resolve, reject });
      line?.send(JSON.stringify({ id: count, method, params }));
    });
  const open = async (): Promise<void> => {
    browser = spawn(
      firefox,
      [
        '--headless',
        '--no-remote',
        '--remote-debugging-port=0',
        '--profile',
        profile,
        'about:blank',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
    );
    let printed = '';
    let address: string | undefined;
    browser.stderr?.on('data', (part) => {
      printed += String(part);
      address ??= /WebDriver BiDi listening on (ws:\S+)/.exec(printed)?.[1];
    });
    await untilTrue('Firefox', () => address !== undefined);
    const opened = new WebSocket(`${address}/session`);
    line = opened;
    opened.addEventListener('message', ({ data }) => {
      const { id, result, message } = JSON.parse(String(data)) as {
        id?: number;
        result?: never;
        message?: string;
      };
      const asked = waiting.get(id ?? 0);
      waiting.delete(id ?? 0);
      if (result !== undefined) asked?.resolve(result);
      else asked?.reject(new Error(message));
    });
    await new Promise((resolve, reject) => {
      opened.addEventListener('open', resolve);
      opened.addEventListener('error', () => reject(new Error('Firefox does not answer')));
    });
    await call('session.new', { capabilities: {} });
    const { contexts } = await call<{ contexts: { context: string }[] }>(
      'browsingContext.getTree',
      {},
    );
    context = contexts[0]?.context ?? '';
    await call('browsingContext.setViewport', { context, viewport: window });
  };
  const end = async (): Promise<void> => {
    line?.close();
    await endGroup(browser);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await open();
  } catch (error) {
    await end();
    throw error;
  }
  const act = (actions: object) => call('input.performActions', { context, actions });
  return {
    goto: async (url) => {
      await call('browsingContext.navigate', { context, url, wait: 'complete' });
    },
    read: async <T>(expression: string) => {
      const { result } = await call<{ result: { value: string } }>('script.evaluate', {
        expression: asText(expression),
        target: { context },
        awaitPromise: true,
        userActivation: true,
      });
      return fromText(result.value) as T;
    },
    press: async (x, y) => {
      await act(pressActions(x, y));
    },
    key: async (key) => {
      await act(keyActions(key));
    },
    restart: async () => {
      line?.close();
      await endGroup(browser);
      await open();
    },
    end,
  };
};

export const engines: readonly Engine[] = [
  {
    name: 'WebKit',
    missing: webkitDriver && miniBrowser && xvfb ? '' : 'webkit2gtk-driver and xvfb are not here',
    start: startWebKit,
  },
  { name: 'Firefox', missing: firefox ? '' : 'firefox-esr is not here', start: startFirefox },
];
