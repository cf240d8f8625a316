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
  /trainedAlgorithmicMedia|Steps: \d+, Sampler|"class_type"|invokeai_metadata|sd-metadata/i.test(text);

/** XMP with the label of this metadata alone, or with a suspicion; empty: nothing says anything. */
export const labelXmp = (metadata: string): string => {
  const element = label.exec(metadata)?.[0].replaceAll(/<\/?[\w-]+:AIGC[^<>]*>/g, '');
  const value = element ?? attribute.exec(metadata)?.[0].replace(/^[^"']*["']|["']$/g, '');
  if (value !== undefined)
    return suspected.replace('{"Label":"3"}', () => value.replaceAll('<', '&lt;'));
  return isLine(metadata) ? suspected : '';
};

/** The same JPEG with what the source says of its making; as it is where that says nothing. */
export const carryLabel = async (source: Blob, jpeg: Blob): Promise<Blob> => {
  const metadata = new TextDecoder().decode(await source.slice(0, looked).arrayBuffer());
  const xmp = labelXmp(metadata);
  const body = new TextEncoder().encode(mark + xmp);
  if (xmp === '' || body.length + 2 > mostSegment) return jpeg;
  const length = body.length + 2;
  const head = new Uint8Array([0xff, 0xd8, 0xff, 0xe1, length >> 8, length & 0xff]);
  return new Blob([head, body, jpeg.slice(2)], { type: 'image/jpeg' });
};
