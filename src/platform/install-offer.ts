/** Chromium's offer to install, made once, maybe before the app's code is there. */
export interface InstallPrompt extends Event {
  prompt: () => Promise<{ outcome: 'accepted' | 'dismissed' }>;
}
declare global {
  interface Window {
    queqiaoInstall?: InstallPrompt | undefined;
  }
}

export const keepInstallOffers = (kept?: () => void): void =>
  addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault();
    window.queqiaoInstall = event as InstallPrompt;
    kept?.();
  });
