/** Whether this browser knows passkeys. */
export const knowsPasskeys = (): boolean => typeof globalThis.PublicKeyCredential === 'function';

/**
 * Lets the person's keeper of passkeys answer; null: they stepped back, or have none.
 * @param options JSON, as the server made it
 */
export const answerPasskey = async (
  how: 'make' | 'use',
  options: string,
): Promise<string | null> => {
  const { startAuthentication, startRegistration } = await import('@simplewebauthn/browser');
  try {
    const answer =
      how === 'make'
        ? await startRegistration({ optionsJSON: JSON.parse(options) as never })
        : await startAuthentication({ optionsJSON: JSON.parse(options) as never });
    return JSON.stringify(answer);
  } catch {
    // The browser does not say whether it was the person or the device.
    return null;
  }
};
