import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';

export interface Letter {
  to: string[];
  subject: string;
  text: string;
}

const wordsOf = (header: string): string =>
  header.replace(/=\?utf-8\?([bq])\?(.*?)\?=\s*/gi, (_, kind: string, said: string) =>
    kind.toLowerCase() === 'b'
      ? Buffer.from(said, 'base64').toString()
      : bytesOf(said.replaceAll('_', ' ')),
  );
const bytesOf = (said: string): string =>
  Buffer.from(
    said
      .replace(/=\r?\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      ),
    'latin1',
  ).toString();

const letterOf = (raw: string, to: string[]): Letter => {
  const [head = '', ...body] = raw.split('\r\n\r\n');
  const headers = head.replace(/\r\n[ \t]+/g, ' ');
  const text = body.join('\r\n\r\n');
  const way = /^content-transfer-encoding: (.*)$/im.exec(headers)?.[1] ?? '';
  return {
    to,
    subject: wordsOf(/^subject: (.*)$/im.exec(headers)?.[1] ?? ''),
    text:
      way === 'base64'
        ? Buffer.from(text, 'base64').toString()
        : way === 'quoted-printable'
          ? bytesOf(text)
          : text,
  };
};

/** A mail server that keeps what it is given; who signs in has to say this password. */
export const startFakeMail = async (password = 'smtp-password-1') => {
  const letters: Letter[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (auth, _session, done) => {
      if (auth.password === password) done(null, { user: auth.username });
      else done(new Error('wrong password'));
    },
    onData: (stream, session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        letters.push(letterOf(Buffer.concat(parts).toString(), to));
        done();
      });
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    letters,
    /** What an owner saves to use it. */
    settings: {
      mail_enabled: 1 as const,
      smtp_host: '127.0.0.1',
      smtp_port: port,
      smtp_secure: 0 as const,
      smtp_user: 'queqiao',
      smtp_password: password,
      mail_from: '鹊桥 <no-reply@example.com>',
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
      }),
  };
};
