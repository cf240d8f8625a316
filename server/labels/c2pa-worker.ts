import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import load, { WasmBuilder, WasmReader } from '@contentauth/c2pa-wasm';
import { serveThread } from '#server/engines/thread-work.ts';
import { madeByModel } from './aigc.ts';
import type { C2paJob } from './c2pa.ts';
import { algorithmOf, coseSign, sizeOf } from './cose.ts';

/** Signs files in a thread of its own: the library takes some 30 MB, and stands in the way meanwhile. */

/** Bytes that the library reads as it does in a browser, by FileReaderSync. */
class HeldBlob extends Blob {
  readonly held: Uint8Array<ArrayBuffer>;
  constructor(held: Uint8Array<ArrayBuffer>) {
    super([held]);
    this.held = held;
  }
  override slice(from?: number, to?: number): HeldBlob {
    return new HeldBlob(this.held.slice(from, to));
  }
}
Object.assign(globalThis, {
  FileReaderSync: class {
    readAsArrayBuffer({ held }: HeldBlob): ArrayBuffer {
      return held.slice().buffer;
    }
  },
});
// The whole of the library is one file beside its code.
const wasm = fileURLToPath(import.meta.resolve('@contentauth/c2pa-wasm/c2pa.wasm'));
const loaded = readFile(wasm).then((code) => load({ module_or_path: code }));

/** What is claimed of each: a model made it. Nothing of a person, and no name of the file. */
const claimed = JSON.stringify({
  claim_generator_info: [{ name: 'Queqiao' }],
  assertions: [
    {
      label: 'c2pa.actions.v2',
      data: { actions: [{ action: 'c2pa.created', digitalSourceType: madeByModel }] },
    },
  ],
});

const certificates = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

serveThread<C2paJob>(async ({ data, mime, signer }) => {
  await loaded;
  const key = createPrivateKey(signer.key);
  const chain = [...signer.chain.matchAll(certificates)].map(
    ([pem]) => new X509Certificate(pem).raw,
  );
  const size = sizeOf(chain);
  const builder = WasmBuilder.fromJson(claimed);
  try {
    const made = await builder.sign(
      {
        alg: algorithmOf(key)?.name ?? '',
        reserveSize: size,
        sign: (claim) =>
          Promise.resolve(new Uint8Array(coseSign(Buffer.from(claim), { key, chain, size }))),
      },
      [],
      mime,
      new HeldBlob(new Uint8Array(data)),
    );
    const reader = await WasmReader.fromBytes(mime, made);
    const { validation_status: faults = [] } = JSON.parse(reader.json()) as {
      validation_status?: { code: string }[];
    };
    reader.free();
    // Whether somebody trusts the certificate is not this server's to say.
    const fault = faults.find(({ code }) => code !== 'signingCredential.untrusted');
    if (fault) throw new Error(fault.code);
    return made;
  } finally {
    builder.free();
  }
});
