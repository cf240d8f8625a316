import type MermaidModule from 'mermaid';

type Mermaid = typeof MermaidModule;

let drawn = 0;

/** The size that the drawing asks for, so that nothing moves when it appears, CSS px. */
const sizeOf = (svg: string): { width: number; height: number } => {
  const box = /viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(svg);
  return { width: Math.ceil(Number(box?.[1] ?? 600)), height: Math.ceil(Number(box?.[2] ?? 300)) };
};

export interface Picture {
  /** Of this page; whoever shows it revokes it. */
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

/** Loads Mermaid; the drawing made from it rejects what is no drawing that Mermaid understands. */
export const loadDrawing = async (): Promise<(source: string) => Promise<Picture>> => {
  const { default: mermaid } = await import('mermaid');
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
  return (source) => draw(mermaid, source);
};
