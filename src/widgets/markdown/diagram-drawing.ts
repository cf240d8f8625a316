import type MermaidModule from 'mermaid';

type Mermaid = typeof MermaidModule;

let drawn = 0;

/** The size that the drawing asks for, so that nothing moves when it appears, CSS px. */
const sizeOf = (svg: string): { width: number; height: number } => {
  const box = /viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(svg);
  return { width: Math.ceil(Number(box?.[1] ?? 600)), height: Math.ceil(Number(box?.[2] ?? 300)) };
};

export interface Image {
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

const draw = async (mermaid: Mermaid, source: string): Promise<Image> => {
  const { svg } = await mermaid.render(`diagram-${++drawn}`, withoutAddresses(withoutTags(source)));
  const size = sizeOf(svg);
  // An image without a width of its own would be drawn in the browser's default size.
  const sized = svg
    .replace(/^<svg /, `<svg height="${size.height}" `)
    .replace('width="100%"', `width="${size.width}"`);
  return { url: URL.createObjectURL(new Blob([sized], { type: 'image/svg+xml' })), ...size };
};

/** Images within a drawing, and addresses in its styles: Mermaid would load them while it measures. */
const withoutAddresses = (source: string): string =>
  source
    .replace(/\bimg\s*:\s*(?:"[^"]*"|'[^']*'|[^\s,}]+)/gi, 'label: "［图片］"')
    .replace(/url\s*\(/gi, '(');

const settings = {
  startOnLoad: false,
  securityLevel: 'strict',
  // Labels as SVG text: foreign HTML inside an image is not drawn everywhere.
  htmlLabels: false,
  flowchart: { htmlLabels: false },
  maxTextSize: 20_000,
  maxEdges: 300,
  suppressErrorRendering: true,
  // What a source may not set: styles could name addresses.
  secure: [
    'secure',
    'securityLevel',
    'startOnLoad',
    'maxTextSize',
    'suppressErrorRendering',
    'maxEdges',
    'themeCSS',
    'htmlLabels',
    'fontFamily',
    'altFontFamily',
  ],
  fontFamily: 'system-ui, sans-serif',
} as const;

/** From the accent: what Mermaid works out itself for the dark is near black on black. */
const colours = {
  light: {
    primaryColor: '#dbe7fd',
    primaryBorderColor: '#7aa2ef',
    primaryTextColor: '#1b2736',
    lineColor: '#64748b',
    secondaryColor: '#e3f3ea',
    tertiaryColor: '#fdf0dc',
    pieOpacity: '1',
    pieStrokeColor: '#ffffff',
    pieOuterStrokeColor: '#ffffff',
    pie1: '#8fb3f5',
    pie2: '#9ad9b5',
    pie3: '#f6cf8f',
    pie4: '#d3b3ee',
    pie5: '#f3aeb4',
    pie6: '#a5dce4',
  },
  dark: {
    darkMode: true,
    background: '#18202c',
    primaryColor: '#26446f',
    primaryBorderColor: '#6d97dd',
    primaryTextColor: '#e6edf7',
    lineColor: '#9db0c8',
    secondaryColor: '#24503b',
    tertiaryColor: '#5a4420',
    pieOpacity: '1',
    pieStrokeColor: '#18202c',
    pieOuterStrokeColor: '#18202c',
    pie1: '#3a66ab',
    pie2: '#2f7a55',
    pie3: '#8f6a2c',
    pie4: '#6d4a92',
    pie5: '#964a56',
    pie6: '#2d7480',
  },
} as const;

export type Draw = (source: string, dark: boolean) => Promise<Image>;

/** Loads Mermaid; the drawing made from it rejects what is no drawing that Mermaid understands. */
export const loadDrawing = async (): Promise<Draw> => {
  const { default: mermaid } = await import('mermaid');
  return (source, dark) => {
    const themeVariables = colours[dark ? 'dark' : 'light'];
    mermaid.initialize({
      ...settings,
      secure: [...settings.secure],
      theme: 'base',
      themeVariables,
    });
    return draw(mermaid, source);
  };
};
