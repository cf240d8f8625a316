import { createHash, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';

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

const pemOf = (whole: Buffer): string => {
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
};

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
  return pemOf(whole);
};

const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const ecdsaSha256 = sequence(oid('2a8648ce3d040302'));
const extension = (hex: string, value: Buffer) =>
  sequence(oid(hex), der(0x01, Buffer.from([255])), der(0x04, value));
const named = (name: string) =>
  sequence(
    der(0x31, sequence(commonName, der(0x0c, Buffer.from(name)))),
    der(0x31, sequence(oid('55040a'), der(0x0c, Buffer.from('Test')))),
  );

/** A key on P-256 for signing files (C2PA) with the chain of its certificate, as PEM. */
export const signingKeys = (): { chain: string; key: string } => {
  const make = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const [root, leaf] = [make(), make()];
  const spki = ({ publicKey }: { publicKey: KeyObject }) =>
    publicKey.export({ type: 'spki', format: 'der' });
  const rootId = createHash('sha1').update(spki(root)).digest();
  const now = Date.now();
  const issue = (subject: string, keys: typeof root, extensions: Buffer[], serial: number) => {
    const content = sequence(
      der(0xa0, der(0x02, Buffer.from([2]))),
      der(0x02, Buffer.from([serial])),
      ecdsaSha256,
      named('authority'),
      sequence(utcTime(new Date(now - 86_400_000)), utcTime(new Date(now + 86_400_000))),
      named(subject),
      spki(keys),
      der(0xa3, sequence(...extensions)),
    );
    const signature = createSign('SHA256').update(content).sign(root.privateKey);
    return pemOf(
      sequence(content, ecdsaSha256, der(0x03, Buffer.concat([Buffer.from([0]), signature]))),
    );
  };
  const authority = issue(
    'authority',
    root,
    [
      extension('551d13', sequence(der(0x01, Buffer.from([255])))),
      // keyCertSign
      extension('551d0f', der(0x03, Buffer.from([2, 4]))),
      sequence(oid('551d0e'), der(0x04, der(0x04, rootId))),
    ],
    1,
  );
  const certificate = issue(
    'operator',
    leaf,
    [
      extension('551d13', sequence()),
      // digitalSignature, and emailProtection as its use
      extension('551d0f', der(0x03, Buffer.from([7, 0x80]))),
      extension('551d25', sequence(oid('2b06010505070304'))),
      sequence(oid('551d23'), der(0x04, sequence(der(0x80, rootId)))),
    ],
    2,
  );
  const key = leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { chain: `${certificate}${authority}`, key };
};
