declare module 'word-extractor' {
  /** Reads Word files of before 2007. */
  export default class WordExtractor {
    extract(data: Buffer): Promise<{ getBody: () => string }>;
  }
}
