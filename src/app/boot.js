/* global __PAGE_FILES__ -- vite.config.ts puts the app's chunk and those of home and chat here */
// Runs before anything else: theme, dark style, width and sidebar of src/platform/prefs.ts; then what is
// seen before the app, and then the app.
(function () {
  /** As long as the app waits for something to be seen, ms. */
  const longestWait = 1_000;
  const files = __PAGE_FILES__;
  const read = (key) => {
    try {
      return localStorage.getItem(key) || '';
    } catch {
      return '';
    }
  };
  let prefs = {};
  try {
    prefs = JSON.parse(read('queqiao.prefs') || '{}') || {};
  } catch {
    // Broken ones: the defaults.
  }
  const root = document.documentElement;
  /** The --ground of each theme, light and dark: the browser's own bar has it before the style is there. */
  const grounds = { wechat: ['#f3f3f3', '#111111'], telegram: ['#f1f5f9', '#0e1621'] };
  const dark =
    prefs.dark === 'dark' ||
    (prefs.dark !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.dataset.theme = prefs.theme || 'wechat';
  root.dataset.dark = dark ? '1' : '0';
  root.dataset.accent = prefs.accent || '';
  root.dataset.width = prefs.width || 1080;
  root.dataset.sidebar = prefs.sidebar === false ? '0' : '1';
  for (const color of document.querySelectorAll('meta[name="theme-color"]'))
    color.content = grounds[root.dataset.theme]?.[dark ? 1 : 0] || '#f3f3f3';

  const token = read('queqiao.token');
  const { pathname, search } = location;
  const uuid = new URLSearchParams(search).get('uuid');
  // What is seen until the screen itself is there (src/platform/first-view.ts): one can read and write
  // at once. Who has no account yet is a reader of a chat, and has no box there.
  const atSession = pathname === '/chat' && /^[\w-]{36}$/.test(uuid);
  const place = pathname === '/' ? 'home' : atSession && token ? 'chat' : '';
  root.dataset.first = place;
  let first = null;

  /** The picture of the screen that src/app/screen-picture.ts took here, of this person and address. */
  const showPicture = () => {
    try {
      const picture = JSON.parse(read('queqiao.picture.' + place) || 'null');
      let account = token;
      try {
        const payload = token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/');
        account = JSON.parse(atob(payload)).sub;
      } catch {
        // Not a token of the usual form: it names nobody but itself.
      }
      const address = place === 'home' ? search.replace('?channel=private', '') : uuid;
      if (!picture || picture.account !== account || picture.address !== address) return;
      for (const href of picture.styles) {
        if (document.querySelector('link[href="' + href + '"]')) continue;
        const link = document.createElement('link');
        link.rel = 'stylesheet';
        link.href = href;
        document.head.append(link);
      }
      first.innerHTML = picture.html;
      first.dataset.picture = '';
    } catch {
      // A broken one: the empty boxes stand.
    }
  };
  const showFirst = () => {
    showPicture();
    const form = first.querySelector(place === 'home' ? '.composer-box' : '.send-line');
    const box = form && form.querySelector('textarea');
    const button = form && form.querySelector('.composer-send, .send-button');
    const list = first.querySelector('[role="log"]');
    const draft = place === 'home' ? 'home' : uuid;
    /** Whether what stands in the box is to be sent once the app is there. */
    const send = (on) => {
      if (on && !box.value.trim()) return;
      if (on) {
        first.dataset.send = '';
        first.dispatchEvent(new Event('send'));
      } else delete first.dataset.send;
      if (!button) return;
      button.disabled = !box.value.trim();
      button.ariaBusy = on ? 'true' : null;
    };
    const grow = () => {
      box.style.height = 'auto';
      if (box.value) box.style.height = Math.min(168, box.scrollHeight) + 'px';
    };
    if (box) {
      box.dataset.draft = draft;
      const key = 'queqiao.draft.' + draft;
      box.value = read(key).replace(/^\d+:/, '');
      // The last keys are kept as src/platform/draft.ts keeps them, should the app never come.
      box.addEventListener('input', () => {
        grow();
        box.dataset.written = '';
        // Whoever writes on has not ended.
        send(false);
        try {
          const at = Math.max(Date.now(), parseInt(read(key)) + 1 || 0);
          localStorage.setItem(key, at + ':' + box.value);
        } catch {
          // Full or forbidden: they are handed over when the app is there.
        }
      });
    }
    if (box && button) {
      let breaks = false;
      try {
        breaks = JSON.parse(JSON.parse(read('queqiao.user')).setting).disable_enter === 1;
      } catch {
        // Nobody, or nobody who chose: Enter sends.
      }
      button.disabled = !box.value.trim();
      button.addEventListener('click', (event) => {
        event.preventDefault();
        send(true);
      });
      // As src/platform/send-key.ts has it.
      box.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' || event.isComposing || event.keyCode === 229) return;
        const command = event.ctrlKey || event.metaKey;
        if (!command && (breaks || event.shiftKey || event.altKey)) return;
        event.preventDefault();
        send(true);
      });
    }
    // A link leads on within the app once that is there, which is sooner than to load the page anew.
    first.addEventListener('click', (event) => {
      const link = event.target.closest('a[href^="/"]');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      first.dataset.next = link.getAttribute('href');
      first.dispatchEvent(new Event('next'));
    });
    first.addEventListener('compositionstart', () => {
      first.dataset.composing = '';
    });
    first.addEventListener('compositionend', () => {
      delete first.dataset.composing;
    });
    // Once the style is there, before the first paint.
    requestAnimationFrame(() => {
      if (box && box.value) grow();
      if (list) list.scrollTop = list.scrollHeight;
    });
  };
  // Not by a script behind it: the empty boxes would be seen before it runs.
  if (place)
    new MutationObserver((_, observer) => {
      if (!document.querySelector('#root')) return;
      observer.disconnect();
      // One of the two is read out, not both.
      document.querySelector('#root').setAttribute('aria-hidden', 'true');
      first = document.querySelector('#first');
      showFirst();
    }).observe(root, { childList: true, subtree: true });

  /** The app can not be had, or fails at once: said plainly, where nothing would ever happen. */
  const tellFailed = () => {
    const note = document.createElement('div');
    note.className = 'first-failed';
    note.role = 'alert';
    note.append('没有加载完，请检查网络后重新加载');
    const again = document.createElement('button');
    again.type = 'button';
    again.className = 'button button-primary';
    again.append('重新加载');
    again.addEventListener('click', () => location.reload());
    note.append(again);
    document.body.append(note);
    addEventListener('online', () => location.reload(), { once: true });
  };

  let started = false;
  const start = () => {
    if (started) return;
    started = true;
    // What the first screen reads is asked for while code is on its way; src/platform/early.ts takes it.
    const early = pathname === '/' || pathname === '/chat' ? ['/api/models'] : [];
    if (early.length > 0 && token) early.push('/api/user_info');
    if (atSession)
      early.push(
        '/api/get_session?uuid=' + uuid,
        '/api/history_list?session_id=' + uuid + '&newest=1&page_size=30',
      );
    window.queqiaoEarly = { token, answers: {} };
    for (const url of early) {
      // Read to its end at once: an answer that nobody takes must not hold its connection.
      window.queqiaoEarly.answers[url] = fetch(url, {
        headers: token ? { authorization: 'Bearer ' + token } : {},
      })
        .then(async (answer) => new Response(await answer.arrayBuffer(), answer))
        .catch(() => undefined);
    }
    // The code of the screen that is opened comes together with the page's own.
    for (const file of files[pathname] || []) {
      const link = document.createElement('link');
      link.rel = 'modulepreload';
      link.href = file;
      document.head.append(link);
    }
    if (!files.app) return;
    const run = () => void import(files.app).catch(tellFailed);
    // The app may be at hand before the document is: it needs its root.
    if (document.readyState === 'loading') addEventListener('DOMContentLoaded', run);
    else run();
  };
  // Each request and each kilobyte of code takes its time from the first view: it is seen before them.
  if (place && !document.hidden) {
    new PerformanceObserver((list) => {
      if (list.getEntriesByName('first-contentful-paint').length > 0) start();
    }).observe({ type: 'paint', buffered: true });
    setTimeout(start, longestWait);
  } else start();

  // Offered once, maybe before the code that keeps it (src/platform/pwa-install.ts) is there.
  addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault();
    window.queqiaoInstall = event;
  });
  // An installed app opened at a conversation: going back leads home, not out of it.
  if (
    history.length === 1 &&
    pathname !== '/' &&
    matchMedia('(display-mode: standalone)').matches
  ) {
    const here = location.href;
    history.replaceState({ __TSR_index: 0, __TSR_key: 'home', key: 'home' }, '', '/');
    history.pushState({ __TSR_index: 1, __TSR_key: 'here', key: 'here' }, '', here);
  }
})();
