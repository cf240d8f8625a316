/**
 * A canvas writes pixels and nothing else. What an image says of having been made by a model goes
 * along into the JPEG that is made of it here; where it was taken and by whose camera does not.
 */

/** Bytes at the beginning of a file in which metadata stand. */
const looked = 256 * 1024;
/** Bytes of a segment of a JPEG, its own length among them. */
const mostSegment = 65_533;
const mark = 'http://ns.adobe.com/xap/1.0/\0';
const suspected =
  '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:TC260="http://www.tc260.org.cn/ns/AIGC/1.0/"><TC260:AIGC>{"Label":"3"}</TC260:AIGC></rdf:Description></rdf:RDF></x:xmpmeta>';

const label = /<([\w-]{1,40}):AIGC(?:\s[^<>]{0,200})?>[^<]{1,8192}<\/\1:AIGC>/;
const attribute = /\s[\w-]{1,40}:AIGC\s?=\s?(?:"[^"<]{1,8192}"|'[^'<]{1,8192}')/;
const isLine = (text: string): boolean =>
  /trainedAlgorithmicMedia|Steps: \d+, Sampler|"class_type"|invokeai_metadata|sd-metadata/i.test(
    text,
  );

/** XMP with the label of this metadata alone, or with a suspicion; empty: nothing says anything. */
const labelXmp = (metadata: string): string => {
  const element = label.exec(metadata)?.[0].replaceAll(/<\/?[\w-]+:AIGC[^<>]*>/g, '');
  const value = element ?? attribute.exec(metadata)?.[0].replace(/^[^"']*["']|["']$/g, '');
  if (value !== undefined)
    return suspected.replace('{"Label":"3"}', () => value.replaceAll('<', '&lt;'));
  return isLine(metadata) ? suspected : '';
};

const inflated = async (packed: Uint8Array<ArrayBuffer>): Promise<string> => {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return (await new Response(stream).text()).slice(0, looked);
};

/** The beginning of a file as text, and what of a PNG's texts is packed. */
const metadataOf = async (file: Blob): Promise<string> => {
  const bytes = new Uint8Array(await file.slice(0, looked).arrayBuffer());
  const view = new DataView(bytes.buffer);
  const text = new TextDecoder().decode(bytes);
  if (!text.slice(0, 8).includes('PNG')) return text;
  const found = [text];
  for (let at = 8; at + 12 <= bytes.length;) {
    const length = view.getUint32(at);
    const chunk = bytes.slice(at + 8, Math.min(bytes.length, at + 8 + length));
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const end = chunk.indexOf(0);
    if (type === 'IDAT') break;
    if (type === 'zTXt' && end > 0)
      found.push(await inflated(chunk.slice(end + 2)).catch(() => ''));
    at += 12 + length;
  }
  return found.join('\n');
};

/** The same JPEG with what the source says of its making; as it is where that says nothing. */
export const carryLabel = async (source: Blob, jpeg: Blob): Promise<Blob> => {
  const xmp = labelXmp(await metadataOf(source));
  const body = new TextEncoder().encode(mark + xmp);
  if (xmp === '' || body.length + 2 > mostSegment) return jpeg;
  const length = body.length + 2;
  const head = new Uint8Array([0xff, 0xd8, 0xff, 0xe1, length >> 8, length & 0xff]);
  return new Blob([head, body, jpeg.slice(2)], { type: 'image/jpeg' });
};
