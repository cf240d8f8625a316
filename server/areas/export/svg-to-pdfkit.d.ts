declare module 'svg-to-pdfkit' {
  import type PDFKit from 'pdfkit';

  /** Draws an SVG at a place of the open page; of its options those that are used here. */
  export default function draw(
    document: PDFKit.PDFDocument,
    svg: string,
    x: number,
    y: number,
    options: {
      width: number;
      height: number;
      assumePt: boolean;
      preserveAspectRatio: string;
      fontCallback: () => string;
      warningCallback: () => void;
    },
  ): void;
}
