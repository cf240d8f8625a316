import { isIP } from 'node:net';
import type { KeptSettings } from './contact.store.ts';

export interface Letter {
  to: string;
  subject: string;
  text: string;
}

/** What a service said that did not take a message; for the log and for who set it up. */
export class NotSent extends Error {}

const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

const isHere = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && (host.startsWith('127.') || host === '::1'));

const transportTo = async (settings: KeptSettings, password: string) => {
  const { createTransport } = await import('nodemailer');
  const { smtp_host: host, smtp_port: port, smtp_secure, smtp_user: user } = settings;
  return createTransport({
    host,
    port,
    secure: smtp_secure === 1,
    // A password and a code never travel in the open, unless they stay on this machine.
    requireTLS: smtp_secure !== 1 && !isHere(host),
    ignoreTLS: smtp_secure !== 1 && isHere(host),
    ...(user === '' ? {} : { auth: { user, pass: password } }),
    ...timeouts,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
};

/** Signs in, and sends nothing. @throws Error what the service said */
export const askMail = async (settings: KeptSettings, password: string): Promise<void> => {
  const transport = await transportTo(settings, password);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
};

/** @throws NotSent */
export const sendMail = async (
  settings: KeptSettings,
  password: string,
  { to, subject, text }: Letter,
): Promise<void> => {
  const transport = await transportTo(settings, password);
  try {
    await transport.sendMail({
      from: settings.mail_from || settings.smtp_user,
      // An object: an address is never parsed as a list of several.
      to: { name: '', address: to },
      subject,
      text,
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
  } catch (error) {
    throw new NotSent(error instanceof Error ? error.message.slice(0, 300) : String(error));
  } finally {
    transport.close();
  }
};
