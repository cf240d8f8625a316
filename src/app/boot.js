/* global __SCREEN_FILES__ -- vite.config.ts puts the chunks of home and chat here */
// Runs before the first paint: theme, dark style, width and sidebar of src/shared/prefs.ts.
(function () {
  let prefs = {};
  try {
    prefs = JSON.parse(localStorage.getItem('queqiao.prefs') || '{}') || {};
  } catch {
    // Broken or forbidden storage: the defaults.
  }
  const root = document.documentElement;
  const dark =
    prefs.dark === 'dark' ||
    (prefs.dark !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.dataset.theme = prefs.theme || 'wechat';
  root.dataset.dark = dark ? '1' : '0';
  root.dataset.width = prefs.width || 1080;
  root.dataset.sidebar = prefs.sidebar === false ? '0' : '1';
  // The first HTML shows the home's box; other addresses start empty.
  root.dataset.first = location.pathname === '/' ? 'home' : '';
  // What the first screen reads is asked for while the code is on its way; src/shared/early.ts takes it.
  let token = '';
  try {
    token = localStorage.getItem('queqiao.token') || '';
  } catch {
    // Nobody is signed in.
  }
  const early = location.pathname === '/' || location.pathname === '/chat' ? ['/api/models'] : [];
  if (early.length > 0 && token) early.push('/api/user_info');
  const uuid = new URLSearchParams(location.search).get('uuid');
  if (location.pathname === '/chat' && /^[\w-]{36}$/.test(uuid)) {
    early.push(
      '/api/get_session?uuid=' + uuid,
      '/api/history_list?session_id=' + uuid + '&newest=1&page_size=30',
    );
  }
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
  for (const file of __SCREEN_FILES__[location.pathname] || []) {
    const link = document.createElement('link');
    link.rel = 'modulepreload';
    link.href = file;
    document.head.append(link);
  }
  document.addEventListener('compositionstart', () => {
    root.dataset.composing = '1';
  });
  document.addEventListener('compositionend', () => {
    delete root.dataset.composing;
  });
  for (const color of document.querySelectorAll('meta[name="theme-color"]'))
    color.content = dark ? '#0e141c' : '#f6f7f9';
  // Offered once, maybe before the code that keeps it (src/shared/pwa-install.ts) is there.
  addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault();
    window.queqiaoInstall = event;
  });
  // An installed app opened at a conversation: going back leads home, not out of it.
  if (
    history.length === 1 &&
    location.pathname !== '/' &&
    matchMedia('(display-mode: standalone)').matches
  ) {
    const here = location.href;
    history.replaceState({ __TSR_index: 0, __TSR_key: 'home', key: 'home' }, '', '/');
    history.pushState({ __TSR_index: 1, __TSR_key: 'here', key: 'here' }, '', here);
  }
})();
