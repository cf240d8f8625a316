import type MermaidModule from 'mermaid';
import { memo, useEffect, useState } from 'react';
import { CodeBox } from './code-box.tsx';
import { lazyChunk, whenLoaded } from './lazy-chunk.ts';

type Mermaid = typeof MermaidModule;

let drawn = 0;

const load = lazyChunk((): Promise<Mermaid> =>
  import('mermaid').then(({ default: mermaid }) => {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: 'strict',
      theme: 'neutral',
      // Labels as SVG text: foreign HTML inside a picture is not drawn everywhere.
      htmlLabels: false,
      flowchart: { htmlLabels: false },
      maxTextSize: 20_000,
      maxEdges: 300,
      suppressErrorRendering: true,
      fontFamily: 'system-ui, sans-serif',
    });
    return mermaid;
  }),
);

/** The size that the drawing asks for, so that nothing moves when it appears, CSS px. */
const sizeOf = (svg: string): { width: number; height: number } => {
  const box = /viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(svg);
  return { width: Math.ceil(Number(box?.[1] ?? 600)), height: Math.ceil(Number(box?.[2] ?? 300)) };
};

interface Picture {
  url: string;
  width: number;
  height: number;
}

/**
 * Mermaid measures labels as elements of this page, before its own cleaning is done: what could be a
 * tag is made to look like one only. `<br>` breaks a label's line, `<<x>>` marks a class.
 */
const withoutTags = (source: string): string =>
  source
    .replace(/&(?:lt|#0*60|#x0*3c);?|#(?:lt|0*60);/gi, '＜')
    .replace(/(?<!<)<(?!br\s*\/?>)(?=[a-z!?/])/gi, '＜');

const draw = async (mermaid: Mermaid, source: string): Promise<Picture> => {
  const { svg } = await mermaid.render(`diagram-${++drawn}`, withoutTags(source));
  const size = sizeOf(svg);
  // A picture without a width of its own would be drawn in the browser's default size.
  const sized = svg
    .replace(/^<svg /, `<svg height="${size.height}" `)
    .replace('width="100%"', `width="${size.width}"`);
  return { url: URL.createObjectURL(new Blob([sized], { type: 'image/svg+xml' })), ...size };
};

/** A Mermaid drawing, shown as a picture: whatever is in it, nothing of it runs. Else its source. */
export const Diagram = memo(function Diagram({ source }: { source: string }) {
  const [picture, setPicture] = useState<Picture | null>(null);
  useEffect(() => {
    let gone = false;
    let url = '';
    const show = async (mermaid: Mermaid) => {
      const made = await draw(mermaid, source);
      url = made.url;
      if (gone) URL.revokeObjectURL(url);
      else setPicture(made);
    };
    // Not a drawing that Mermaid understands: the source is shown.
    const cancel = whenLoaded(load, (mermaid) => void show(mermaid).catch(() => {}));
    return () => {
      gone = true;
      cancel();
      if (url !== '') URL.revokeObjectURL(url);
    };
  }, [source]);
  if (!picture) return <CodeBox pieces={[source]} language="mermaid" open={false} />;
  return (
    <div className="diagram">
      <img src={picture.url} width={picture.width} height={picture.height} alt="流程图" />
    </div>
  );
});
