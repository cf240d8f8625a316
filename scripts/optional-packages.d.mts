export const optionalPackages: readonly {
  name: string;
  license: string;
  contains: string;
  source: string;
  texts: string[];
  use: string;
  without: string;
}[];
