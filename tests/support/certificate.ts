import { createSign, type KeyObject } from 'node:crypto';

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const size =
    body.length < 128
      ? [body.length]
      : body.length < 256
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};
const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const utcTime = (at: Date) =>
  der(0x17, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));

/** sha256WithRSAEncryption, and the attribute commonName. */
const rsaSha256 = sequence(der(0x06, Buffer.from('2a864886f70d01010b', 'hex')), der(0x05));
const commonName = der(0x06, Buffer.from('550403', 'hex'));

/** A certificate that signs itself, as PEM: Node makes keys but no certificates. */
export const selfSigned = (
  { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject },
  serial: string,
  days = 30,
): string => {
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from('fake')))));
  const now = Date.now();
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    // A number whose first bit is set would be below 0.
    der(0x02, Buffer.from(/^[89A-F]/i.test(serial) ? `00${serial}` : serial, 'hex')),
    rsaSha256,
    name,
    sequence(utcTime(new Date(now - 86_400_000)), utcTime(new Date(now + days * 86_400_000))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = createSign('RSA-SHA256').update(content).sign(privateKey);
  const whole = sequence(
    content,
    rsaSha256,
    der(0x03, Buffer.concat([Buffer.from([0]), signature])),
  );
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
};
